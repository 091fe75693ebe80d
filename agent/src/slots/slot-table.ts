/** A place for one attempt at a time; it has its own uid if the agent is root. */
export interface Slot {
  readonly index: number;
  /** Null if the agent cannot change users. */
  readonly uid: number | null;
}

export class SlotTable {
  readonly #slots: readonly Slot[];
  readonly #occupied = new Set<number>();

  constructor(uids: readonly (number | null)[]) {
    this.#slots = uids.map((uid, index) => ({ index, uid }));
  }

  get count(): number {
    return this.#slots.length;
  }

  get freeCount(): number {
    return this.#slots.filter((slot) => !this.#occupied.has(slot.index)).length;
  }

  /** The uids of the free slots. */
  freeUids(): number[] {
    return this.#slots
      .filter((slot) => !this.#occupied.has(slot.index))
      .flatMap((slot) => (slot.uid === null ? [] : [slot.uid]));
  }

  /** Occupies a free slot; null if there is none. */
  occupy(): Slot | null {
    const slot = this.#slots.find((one) => !this.#occupied.has(one.index));
    if (slot) this.#occupied.add(slot.index);
    return slot ?? null;
  }

  /**
   * Occupies the slot that an earlier agent process assigned to an attempt; a slot above the current number
   * is not used again afterwards.
   */
  reoccupy(record: Slot): Slot {
    const same = this.#slots.find(
      (slot) => slot.uid === record.uid && (record.uid !== null || slot.index === record.index),
    );
    if (same) this.#occupied.add(same.index);
    return same ?? { index: -1, uid: record.uid };
  }

  release(slot: Slot): void {
    this.#occupied.delete(slot.index);
  }
}
