/** What every room may write to the log; pino stands behind it (telemetry/log). Fields first, then the sentence. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
