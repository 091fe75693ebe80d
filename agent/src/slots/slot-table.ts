/**
 * The occupied slots of the agent. A slot runs one attempt after the other. If the agent is root, each attempt
 * has a uid that no other one has had for as long as possible; a plan and the apply that continues in its tree
 * share theirs. The uid of a tree that is kept for an apply is reserved: no other attempt gets it.
 */
export interface Slot {
  readonly index: number;
  /** Null if the agent cannot change users. */
  readonly uid: number | null;
}

export class SlotTable {
  readonly #count: number;
  readonly #occupied = new Set<Slot>();
  /** Those that are not in use, the longest unused first; null if the agent cannot change users. */
  readonly #freeUids: number[] | null;
  readonly #reserved = new Set<number>();

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

  /**
   * A free slot, now occupied; null if there is none.
   * @param wanted uid of the tree that its attempt continues in; absent: the longest unused one
   */
  occupy(wanted?: number | null): Slot | null {
    const [index] = this.#freeIndexes();
    if (index === undefined) return null;
    // Null for an agent that can change users: the tree of one that could not.
    const uid = this.#freeUids === null ? null : (wanted ?? this.#freeUids[0]);
    if (uid === undefined) return null;
    this.#takeUid(uid);
    return this.#add({ index, uid });
  }

  /** The same slot with the uid of a kept tree, for an attempt that has not started. */
  exchangeUid(slot: Slot, uid: number | null): Slot {
    this.release(slot);
    this.#takeUid(uid);
    return this.#add({ index: slot.index, uid });
  }

  /**
   * Occupies the slot that an earlier agent process assigned to an attempt; a slot above the current number
   * is not used again afterwards.
   */
  reoccupy(record: Slot): Slot {
    this.#takeUid(record.uid);
    // An agent that was not root leaves records without a uid.
    const isSameKind = (record.uid === null) === (this.#freeUids === null);
    const isFree = isSameKind && this.#freeIndexes().includes(record.index);
    return this.#add({ index: isFree ? record.index : -1, uid: record.uid });
  }

  release(slot: Slot): void {
    this.#occupied.delete(slot);
    if (slot.uid !== null && !this.#reserved.has(slot.uid)) this.#freeUids?.push(slot.uid);
  }

  /**
   * Reserves the uid of an occupied slot for longer than the slot.
   * @returns false if a free slot would have no uid then
   */
  reserveUid({ uid }: Slot): boolean {
    if (uid === null || this.#freeUids === null) return true;
    if (this.#freeUids.length <= this.freeCount) return false;
    this.#reserved.add(uid);
    return true;
  }

  /** Ends a reservation. */
  freeUid(uid: number | null): void {
    if (uid === null || !this.#reserved.delete(uid)) return;
    if (![...this.#occupied].some((slot) => slot.uid === uid)) this.#freeUids?.push(uid);
  }

  #add(slot: Slot): Slot {
    this.#occupied.add(slot);
    return slot;
  }

  #takeUid(uid: number | null): void {
    if (uid === null) return;
    this.#reserved.delete(uid);
    const place = this.#freeUids?.indexOf(uid) ?? -1;
    if (place >= 0) this.#freeUids?.splice(place, 1);
  }

  #freeIndexes(): number[] {
    const taken = new Set([...this.#occupied].map(({ index }) => index));
    return Array.from({ length: this.#count }, (_, index) => index).filter((index) => !taken.has(index));
  }
}
