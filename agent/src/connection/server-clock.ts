/** The clock of the service, as far as its replies show it: that of the agent's machine may be wrong. */

/** Smaller differences are those of clocks that are right. */
const toleratedMilliseconds = 1_000;

export class ServerClock {
  readonly #read: () => number;
  #ahead = 0;

  /** @param read the machine's own clock, in milliseconds since the epoch */
  constructor(read: () => number = Date.now) {
    this.#read = read;
  }

  /** The time of the machine, in milliseconds since the epoch. */
  own(): number {
    return this.#read();
  }

  /**
   * Compares the clocks. A difference that is still possible stays as it is: times keep their order.
   * @param now of a reply
   * @param sentAt when the call was sent, by `own`
   */
  compare(now: string, sentAt: number): void {
    const [least, most] = [this.#read(), sentAt].map((own) => Date.parse(now) - own);
    if (least === undefined || most === undefined || Number.isNaN(least)) return;
    const isPossible =
      this.#ahead >= least - toleratedMilliseconds && this.#ahead <= most + toleratedMilliseconds;
    if (!isPossible) this.#ahead = Math.round((least + most) / 2);
  }

  /** @param time by the clock of this machine @returns the same time by the clock of the service */
  of(time: string): string {
    return this.#ahead === 0 ? time : new Date(Date.parse(time) + this.#ahead).toISOString();
  }
}
