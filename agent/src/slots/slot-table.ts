/**
 * The occupied slots of the agent. A slot runs one attempt after the other. If the agent is root, each attempt
 * has a uid that no other one has had for as long as possible; a plan and the apply that follows it in the same
 * slot share theirs, because they share their tree.
 */
export interface Slot {
  readonly index: number;
  /** Null if the agent cannot change users. */
  readonly uid: number | null;
}

export class SlotTable {
  readonly #count: number;
  readonly #taken = new Set<number>();
  /** Those that are not in use, the longest unused first; null if the agent cannot change users. */
  readonly #freeUids: number[] | null;

  /** @param uids at least one for each slot, or null */
  constructor(count: number, uids: readonly number[] | null) {
    this.#count = count;
    this.#freeUids = uids === null ? null : [...uids];
  }

  get count(): number {
    return this.#count;
  }

  get freeCount(): number {
    return this.#freeIndexes().length;
  }

  /** The uids of the free slots. */
  freeUids(): number[] {
    return [...(this.#freeUids ?? [])];
  }

  /** A free slot, now occupied; null if there is none. */
  occupy(): Slot | null {
    const [index] = this.#freeIndexes();
    if (index === undefined) return null;
    const uid = this.#freeUids === null ? null : this.#freeUids.shift();
    if (uid === undefined) return null;
    this.#taken.add(index);
    return { index, uid };
  }

  /**
   * Occupies the slot that an earlier agent process assigned to an attempt; a slot above the current number
   * is not used again afterwards.
   */
  reoccupy(record: Slot): Slot {
    const place = this.#freeUids?.indexOf(record.uid ?? -1) ?? -1;
    if (place >= 0) this.#freeUids?.splice(place, 1);
    // An agent that was not root leaves records without a uid.
    const isSameKind = (record.uid === null) === (this.#freeUids === null);
    const isFree = isSameKind && this.#freeIndexes().includes(record.index);
    if (isFree) this.#taken.add(record.index);
    return { index: isFree ? record.index : -1, uid: record.uid };
  }

  release(slot: Slot): void {
    this.#taken.delete(slot.index);
    if (slot.uid !== null) this.#freeUids?.push(slot.uid);
  }

  #freeIndexes(): number[] {
    return Array.from({ length: this.#count }, (_, index) => index).filter(
      (index) => !this.#taken.has(index),
    );
  }
}
