/**
 * One run at a time in the work folder of an environment: the next one waits until the previous one has
 * tidied up.
 */
export class WorkFolderLocks {
  readonly #last = new Map<string, Promise<void>>();

  /**
   * Waits for all earlier runs.
   * @param root the folder
   * @returns to be disposed when the next one may use the folder
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
