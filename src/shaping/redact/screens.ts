/** The texts without which a detector cannot match: a text with none of them needs no detector. Each is checked over bytes. */
import type { RedactionKind } from './redact.ts';

export interface Screen {
  /** Texts of ASCII of which one is there. */
  readonly texts: readonly string[];
  /** Texts of lower case of which one is there, in any case. */
  readonly folded: readonly string[];
  /** Thirteen digits, with single blanks and hyphens between them. */
  readonly cardDigits: boolean;
}

const SCREENS: Readonly<Partial<Record<RedactionKind, Partial<Screen>>>> = {
  private_key: { texts: ['-----BEGIN '] },
  jwt: { texts: ['eyJ'] },
  bearer_token: { folded: ['bearer '] },
  basic_auth: { texts: ['://'], folded: ['basic '] },
  aws_key: { texts: ['AKIA', 'ASIA', 'AGPA', 'AIDA', 'AROA', 'AIPA', 'ANPA', 'ANVA'], folded: ['secret'] },
  gcp_key: { texts: ['AIza', 'GOCSPX-', 'ya29.'] },
  github_token: { texts: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'] },
  slack_token: { texts: ['xox', 'xapp-', 'xwfp-', 'hooks.slack.com/'] },
  stripe_key: { texts: ['_live_', '_test_', 'whsec_'] },
  email: { texts: ['@'] },
  credit_card: { cardDigits: true },
};

/** One screen for all kinds; undefined where one of them has none. */
export function screenOf(kinds: readonly RedactionKind[]): Screen | undefined {
  const screens = kinds.map((kind) => SCREENS[kind]);
  if (screens.includes(undefined)) return undefined;
  return {
    texts: screens.flatMap((screen) => screen?.texts ?? []),
    folded: screens.flatMap((screen) => screen?.folded ?? []),
    cardDigits: screens.some((screen) => screen?.cardDigits === true),
  };
}
