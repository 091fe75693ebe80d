/** Numbers up to four thousand million, four bytes each, of which more can come. */
export class Numbers {
  #values = new Uint32Array(256);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const larger = new Uint32Array(this.#length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#length++] = value;
  }

  at(index: number): number | undefined {
    return index >= 0 && index < this.#length ? this.#values[index] : undefined;
  }

  /** Number of smaller ones. The numbers have to ascend. */
  countBelow(value: number): number {
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#values[middle]! < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
