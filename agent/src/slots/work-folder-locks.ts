/**
 * One run at a time in the work folder of an environment: the next one waits until the one before has tidied
 * up.
 */
export class WorkFolderLocks {
  readonly #last = new Map<string, Promise<void>>();

  /**
   * Waits for all who came before.
   * @param root the folder
   * @returns to be disposed when the folder may be given to the next one
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
