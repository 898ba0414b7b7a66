/**
 * Abbreviations of zones. One has its meaning in the configured zone, else in RFC 5322, else the one offset that it has in the tz database
 * (of 2026b, in the years from 2019 on). The others that programs write are ambiguous; a time in front of one is not taken.
 */

const HOURS: Readonly<Record<string, number>> = {
  UTC: 0, GMT: 0, UT: 0, WET: 0,
  BST: 1, CET: 1, MET: 1, WAT: 1, WEST: 1, CAT: 2, CEST: 2, EET: 2, MEST: 2, SAST: 2, EAT: 3, EEST: 3, IDT: 3, MSK: 3, PKT: 5,
  WIB: 7, AWST: 8, HKT: 8, WITA: 8, ACST: 9.5, JST: 9, KST: 9, WIT: 9, ACDT: 10.5, AEST: 10, AEDT: 11, NZST: 12, NZDT: 13,
  ADT: -3, AST: -4, CDT: -5, CST: -6, EDT: -4, EST: -5, MDT: -6, MST: -7, NDT: -2.5, NST: -3.5, PDT: -7, PST: -8,
  AKDT: -8, AKST: -9, HDT: -9, HST: -10, SST: -11,
}; // prettier-ignore

/** Meanings in some zones: another offset, or one at all. */
const IN_ZONES: readonly (readonly [abbreviation: string, hours: number, zones: readonly string[]])[] = [
  ['CST', 8, ['Asia/Shanghai', 'Asia/Taipei', 'Asia/Macau', 'Asia/Macao', 'Asia/Chongqing', 'Asia/Chungking', 'Asia/Harbin', 'PRC', 'ROC']],
  ['CST', -5, ['America/Havana', 'Cuba']],
  ['CDT', -4, ['America/Havana', 'Cuba']],
  ['PST', 8, ['Asia/Manila']],
  ['IST', 5.5, ['Asia/Kolkata', 'Asia/Calcutta']],
  ['IST', 2, ['Asia/Jerusalem', 'Asia/Tel_Aviv', 'Israel']],
  ['IST', 1, ['Europe/Dublin', 'Eire']],
]; // prettier-ignore

/**
 * Abbreviations of several zones, or of none in the tz database. Words that logs have for other things (ART, EAST, IOT, PET, …) are left
 * out.
 */
const UNKNOWN: ReadonlySet<string> = new Set(
  `IST AFT ALMT AMST AMT AZOST AZOT AZST AZT BDT BDST BNT BOT BRST BRT BTT CCT CHADT CHAST CHOT CHST CKT CLST CLT COT CVT CXT DAVT DDUT EASST ECT
  EGST EGT FJST FJT FKST FKT FNT GALT GAMT GFT GILT GST GYT HADT HKST HOVT ICT IRDT IRKT IRST KDT KGT KRAT KUYT LHDT LHST MAGT MAWT MHT MMT MSD
  MUT MVT MYT NCT NFT NOVT NPT NRT OMST ORAT PETT PGT PHOT PHT PKST PMDT PMST PYST PYT QYZT SAKT SAMT SBT SCT SGT SRET SYOT TAHT TFT TJT TKT TLT
  TMT TVT ULAT UYST UYT UZT VET VLAT VUT WAKT WARST WAST WFT WGST WGT WST YAKT YEKT`.split(/\s+/), // prettier-ignore
);

export const ABBREVIATIONS: readonly string[] = [...new Set([...Object.keys(HOURS), ...UNKNOWN])];

/** The offset of an abbreviation in seconds; `unknown` where it names no one zone, undefined for a word that is no abbreviation. */
export function abbreviationOffset(name: string, zoneName: string): number | 'unknown' | undefined {
  const inZone = IN_ZONES.find(([abbreviation, , zones]) => abbreviation === name && zones.includes(zoneName));
  const hours = inZone?.[1] ?? (Object.hasOwn(HOURS, name) ? HOURS[name] : undefined);
  if (hours !== undefined) return hours * 3600;
  return UNKNOWN.has(name) ? 'unknown' : undefined;
}
