/** A value that must not be printed: JSON, string conversion and inspection all show `[sealed]`. */
import { inspect } from 'node:util';

const shown = '[sealed]';

export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value in clear; call it where the value is used, not earlier. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return shown;
  }

  toJSON(): string {
    return shown;
  }

  [inspect.custom](): string {
    return shown;
  }
}
