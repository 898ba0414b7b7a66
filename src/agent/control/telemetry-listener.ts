/** The telemetry listener of a running agent: started, closed, and replaced where a reload changes its address or its page. */
import { isDeepStrictEqual } from 'node:util';
import type { TelemetryConfig } from '../../config/common/agent-fields.ts';
import { startTelemetry, type TelemetryOptions, type TelemetryServer } from '../../telemetry/server.ts';

export interface TelemetryListenerOptions extends Omit<TelemetryOptions, 'listen' | 'page'> {
  readonly page: NonNullable<TelemetryOptions['page']>;
}

export class TelemetryListener {
  readonly #options: TelemetryListenerOptions;
  #config: TelemetryConfig | undefined;
  server: TelemetryServer | undefined;

  constructor(options: TelemetryListenerOptions) {
    this.#options = options;
  }

  /** Throws `E_TELEMETRY_LISTEN`, with the listener before in force. */
  async use(config: TelemetryConfig): Promise<void> {
    const [before, old] = [this.#config, this.server];
    if (before && isDeepStrictEqual([before.listen, before.page], [config.listen, config.page])) return;
    // A port that both want cannot be had before the old listener is closed.
    const isShared = old !== undefined && before?.listen?.port === config.listen?.port;
    if (isShared) await old.close();
    try {
      this.server = await this.#start(config);
    } catch (error) {
      if (isShared && before) this.server = await this.#start(before);
      throw error;
    }
    this.#config = config;
    if (!isShared) await old?.close();
  }

  async #start({ listen, page }: TelemetryConfig): Promise<TelemetryServer | undefined> {
    if (!listen) return undefined;
    const { histograms, observe, stalled, page: source } = this.#options;
    return startTelemetry({ listen, histograms, observe, stalled, page: page ? source : undefined });
  }
}
