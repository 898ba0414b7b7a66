/** What in a text looks like a secret, by the detectors of `redact`. */
import { detectorsOf, REDACTION_KINDS, type RedactionKind } from '../../shaping/redact/redact.ts';

/** Addresses and phone numbers are in most logs, and often what they are read for. */
const LEFT_OUT: ReadonlySet<RedactionKind> = new Set(['ipv4', 'ipv6', 'phone']);
const DETECTORS = REDACTION_KINDS.filter((kind) => !LEFT_OUT.has(kind)).map((kind) => detectorsOf(new Set([kind]))[0]!);

/** Kinds as `redact` takes them, each once. */
export function findSecrets(text: string): string[] {
  return DETECTORS.filter(({ detect }) => !detect(text)[Symbol.iterator]().next().done).map(({ name }) => name);
}
