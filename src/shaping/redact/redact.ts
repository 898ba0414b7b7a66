/** Texts with `[REDACTED:kind]` in place of what detectors find. */
import {
  awsKey,
  basicAuth,
  bearerToken,
  gcpKey,
  githubToken,
  jwt,
  privateKey,
  slackToken,
  stripeKey,
} from './credentials.ts';
import { replaceSpans, type Detector } from './detector.ts';
import { creditCard, email, iban, ipv4, ipv6, phone } from './persons.ts';

/** In this order: what contains another comes before it. */
const DETECTORS = {
  private_key: privateKey,
  jwt,
  bearer_token: bearerToken,
  basic_auth: basicAuth,
  aws_key: awsKey,
  gcp_key: gcpKey,
  github_token: githubToken,
  slack_token: slackToken,
  stripe_key: stripeKey,
  email,
  iban,
  credit_card: creditCard,
  ipv6,
  ipv4,
  phone,
} satisfies Readonly<Record<string, Detector>>;

export type RedactionKind = keyof typeof DETECTORS;
export const REDACTION_KINDS = Object.keys(DETECTORS) as readonly RedactionKind[];
export const isRedactionKind = (name: string): name is RedactionKind => Object.hasOwn(DETECTORS, name);

export interface Redaction {
  /** The name in the brackets. */
  readonly name: string;
  readonly detect: Detector;
}

export const detectorsOf = (kinds: ReadonlySet<RedactionKind>): readonly Redaction[] =>
  REDACTION_KINDS.filter((kind) => kinds.has(kind)).map((kind) => ({ name: kind, detect: DETECTORS[kind] }));

export const redactText = (text: string, redactions: readonly Redaction[]): string =>
  redactions.reduce((result, { name, detect }) => replaceSpans(result, detect(result), `[REDACTED:${name}]`), text);
