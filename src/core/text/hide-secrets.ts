/** Takes secrets out of texts that come from outside: a service, or a proxy, may repeat what it was sent. Pure. */

export const HIDDEN = '(hidden)';
/** Shorter ones may be common words. */
const MIN_SECRET = 4;
/** Begins at the colon: a run of letters before it is read once. */
const USER_IN_ADDRESS = /:\/\/[^\s/@"']+@/g;
/** Where a text was cut. */
const CUT = '…';

/**
 * The text without these values, also as JSON, HTML, addresses and base64 write them; what a cut left of one is hidden, too. So are users
 * and passwords in addresses.
 */
export function hideSecretsIn(text: string, secrets: Iterable<string>): string {
  const forms = [...new Set([...secrets].filter(({ length }) => length >= MIN_SECRET).flatMap(formsOf))].sort(
    (a, b) => b.length - a.length,
  );
  const plain = forms.reduce((rest, form) => rest.replaceAll(form, HIDDEN), text);
  return hideCut(plain, forms).replaceAll(USER_IN_ADDRESS, `://${HIDDEN}@`);
}

function formsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const html = secret
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
  const base64 = Buffer.from(secret).toString('base64');
  const forms = [
    secret,
    json,
    json.replaceAll('/', String.raw`\/`),
    html,
    html.replaceAll("'", '&#39;'),
    html.replaceAll("'", '&#x27;'),
  ];
  return [
    ...forms,
    encodeURIComponent(secret),
    base64,
    base64.replaceAll('=', ''),
    Buffer.from(secret).toString('base64url'),
  ];
}

/** Hides the beginning of a secret at a cut, and at the text's end. */
function hideCut(text: string, forms: readonly string[]): string {
  return text
    .split(CUT)
    .map((part) => {
      const length = Math.max(0, ...forms.map((form) => overlapOf(part, form)));
      return length < MIN_SECRET ? part : `${part.slice(0, part.length - length)}${HIDDEN}`;
    })
    .join(CUT);
}

/** How many of the text's last characters a form begins with. */
function overlapOf(text: string, form: string): number {
  for (let length = Math.min(text.length, form.length - 1); length >= MIN_SECRET; length -= 1)
    if (text.endsWith(form.slice(0, length))) return length;
  return 0;
}

/** The user and password of an address, also as they are sent. */
export function secretsInAddress(address: string | undefined): string[] {
  const url = address === undefined ? null : URL.parse(address);
  if (!url || url.password === '') return [];
  const [user, password] = [decode(url.username), decode(url.password)];
  return [password, url.password, `${user}:${password}`];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
