/**
 * Which of the agent's slots are taken. A slot runs one attempt after the other, under a uid of its own where
 * the agent is root.
 */
export interface Slot {
  readonly index: number;
  /** Null where the agent cannot change users. */
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

  /** Uids that no attempt runs under now. */
  freeUids(): number[] {
    return this.#slots
      .filter((slot) => !this.#taken.has(slot.index))
      .flatMap((slot) => (slot.uid === null ? [] : [slot.uid]));
  }

  /** A free slot, now taken; null if there is none. */
  take(): Slot | null {
    const slot = this.#slots.find((one) => !this.#taken.has(one.index));
    if (slot) this.#taken.add(slot.index);
    return slot ?? null;
  }

  /**
   * Takes the slot that an earlier agent gave to an attempt; one that no setting provides any more is used up
   * and not given again.
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
