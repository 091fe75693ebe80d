/** Parts of the interface that are loaded when they are needed. */

/** A part is not there: the service was updated, or cannot be reached. */
export class PartMissing extends Error {
  override readonly name = 'PartMissing';
}

/**
 * Loads a part. Without this the router reloads the page where a part is missing, which shows nothing at all
 * while the service cannot be reached.
 * @throws PartMissing
 */
export function loadPart<Module>(load: () => Promise<Module>): () => Promise<Module> {
  return () =>
    load().catch((error: unknown) => {
      throw new PartMissing('A part of the interface could not be loaded', { cause: error });
    });
}
