/**
 * Elements of lists as JSON, kept in memory: most of them are the same at the next request, and making them takes
 * most of it. A text is used only for the version that it was made from.
 */

/** What is kept in all; larger than this part of it, a text is not kept. */
const mostCharacters = 8_000_000;
const largestPart = 1 / 20;

export interface KeptText {
  /** Changes with everything that the text shows. */
  readonly version: string;
  readonly text: string;
}

export class KeptTexts<Kept extends KeptText = KeptText> {
  readonly #texts = new Map<string, Kept>();
  readonly #most: number;
  #characters = 0;

  /** @param most characters that are kept */
  constructor(most: number = mostCharacters) {
    this.#most = most;
  }

  find(key: string, version: string): Kept | undefined {
    const kept = this.#texts.get(key);
    if (kept?.version !== version) return undefined;
    // Those that were not used for longest come first.
    this.#texts.delete(key);
    this.#texts.set(key, kept);
    return kept;
  }

  keep(key: string, kept: Kept): void {
    this.forget(key);
    if (kept.text.length > this.#most * largestPart) return;
    this.#texts.set(key, kept);
    this.#characters += kept.text.length;
    for (const oldest of this.#texts.keys()) {
      if (this.#characters <= this.#most) return;
      this.forget(oldest);
    }
  }

  forget(key: string): void {
    this.#characters -= this.#texts.get(key)?.text.length ?? 0;
    this.#texts.delete(key);
  }
}
