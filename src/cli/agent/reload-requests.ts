/** Pending reload requests, by SIGHUP or the control socket. Requests made before a reload begins share it; later ones get the next. */
import type { ReloadReport } from '../../agent/reload/reload-report.ts';

export class ReloadRequests {
  #asked = Promise.withResolvers<void>();
  #waiting: ((report: ReloadReport) => void)[] = [];
  #last: ReloadReport | undefined;

  /** Resolves with the report of the reload. */
  ask(): Promise<ReloadReport> {
    if (this.#last) return Promise.resolve(this.#last);
    this.#asked.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Resolves once somebody asks, or has asked. */
  next(): Promise<void> {
    return this.#asked.promise;
  }

  /** Runs the reload that was asked for, and answers those who asked before it began. */
  async answer(reload: () => Promise<ReloadReport>): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#asked = Promise.withResolvers();
    const report = await reload();
    for (const resolve of waiting) resolve(report);
  }

  /** Answers all pending and later requests: there are no more reloads. */
  end(report: ReloadReport): void {
    this.#last = report;
    for (const resolve of this.#waiting.splice(0)) resolve(report);
  }
}
