/** When, and from whom, the messages of the tests are received. */
export const RECEIVED_AT = '2026-07-10T08:00:00.000Z';
export const ORIGIN = { peer: '192.0.2.1:514' };
/** Of times without a zone. */
export const TIMEZONE = 'Europe/Athens';
