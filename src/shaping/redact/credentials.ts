/** Detectors of what opens a door: tokens, keys, passwords. */
import { either, matching, type Detector } from './detector.ts';

export const bearerToken: Detector = matching(/(?<!\w)bearer[ ]{1,3}(?<secret>[A-Za-z0-9._~+/-]{6,}=*)/dgi);

/** The header's value, or the user and password before the @ of a URL. */
export const basicAuth: Detector = either(
  matching(/(?<!\w)basic[ ]{1,3}(?<secret>[A-Za-z0-9+/]{4,}={0,2})(?![A-Za-z0-9+/=])/dgi, (match) =>
    isUserAndPassword(match.slice(5).trim()),
  ),
  matching(/:\/\/(?<secret>[^\s:/@"'<>]{0,256}:[^\s/@"'<>]{1,256})@/dg),
);

const isUserAndPassword = (base64: string): boolean => Buffer.from(base64, 'base64').includes(':');

export const jwt: Detector = matching(/(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*/g);

const BEGIN = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const END = /-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;

/** Up to its end; one that is cut off, up to the end of the text. */
export const privateKey: Detector = function* keys(text) {
  let from = 0;
  for (;;) {
    BEGIN.lastIndex = from;
    const begin = BEGIN.exec(text);
    if (!begin) return;
    END.lastIndex = begin.index;
    const end = END.exec(text);
    from = end ? end.index + end[0].length : text.length;
    yield { start: begin.index, end: from };
  }
};

export const awsKey: Detector = either(
  matching(/(?<![A-Z0-9])(?:AKIA|ASIA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA)[A-Z0-9]{16}(?![A-Z0-9])/g),
  matching(
    /aws_?secret_?(?:access_?)?key["']?[ ]{0,3}[=:][ ]{0,3}["']?(?<secret>[A-Za-z0-9/+=]{40})(?![A-Za-z0-9/+=])/dgi,
  ),
);
export const gcpKey: Detector = either(
  matching(/(?<![\w-])AIza[\w-]{35}(?![\w-])/g),
  matching(/(?<![\w-])GOCSPX-[\w-]{28}(?![\w-])/g),
  matching(/(?<![\w.])ya29\.[\w-]{20,}/g),
);
export const githubToken: Detector = matching(/(?<!\w)(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{22,255})(?!\w)/g);
export const slackToken: Detector = either(
  matching(/(?<![\w-])(?:xox[abeoprs]|xapp|xwfp)-[A-Za-z0-9-]{10,}/g),
  matching(/hooks\.slack\.com\/(?:services|workflows)\/(?<secret>[\w/+-]{20,})/dg),
);
export const stripeKey: Detector = matching(
  /(?<!\w)(?:(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,})/g,
);
