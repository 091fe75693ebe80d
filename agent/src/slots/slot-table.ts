/**
 * The occupied slots of the agent. A slot runs one attempt after the other, under its own uid if the agent is
 * root.
 */
export interface Slot {
  readonly index: number;
  /** Null if the agent cannot change users. */
  readonly uid: number | null;
}

export class SlotTable {
  readonly #slots: readonly Slot[];
  readonly #taken = new Set<number>();

  constructor(uids: readonly (number | null)[]) {
    this.#slots = uids.map((uid, index) => ({ index, uid }));
  }

  get count(): number {
    return this.#slots.length;
  }

  get freeCount(): number {
    return this.#slots.filter((slot) => !this.#taken.has(slot.index)).length;
  }

  /** Uids that are not in use by an attempt now. */
  freeUids(): number[] {
    return this.#slots
      .filter((slot) => !this.#taken.has(slot.index))
      .flatMap((slot) => (slot.uid === null ? [] : [slot.uid]));
  }

  /** A free slot, now occupied; null if there is none. */
  take(): Slot | null {
    const slot = this.#slots.find((one) => !this.#taken.has(one.index));
    if (slot) this.#taken.add(slot.index);
    return slot ?? null;
  }

  /**
   * Occupies the slot that an earlier agent assigned to an attempt; a slot above the current number is not
   * used again afterwards.
   */
  takeAgain(record: Slot): Slot {
    const same = this.#slots.find(
      (slot) => slot.uid === record.uid && (record.uid !== null || slot.index === record.index),
    );
    if (same) this.#taken.add(same.index);
    return same ?? { index: -1, uid: record.uid };
  }

  release(slot: Slot): void {
    this.#taken.delete(slot.index);
  }
}
