/**
 * Admits one run at a time to an environment's work folder: the next waits until the previous has cleaned up.
 */
export class WorkFolderLocks {
  readonly #last = new Map<string, Promise<void>>();

  /**
   * Waits for all earlier runs in the folder.
   * @returns disposed to admit the next run
   */
  async enter(root: string): Promise<Disposable> {
    const before = this.#last.get(root);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last.set(root, promise);
    await before;
    return {
      [Symbol.dispose]: () => {
        if (this.#last.get(root) === promise) this.#last.delete(root);
        resolve();
      },
    };
  }
}
