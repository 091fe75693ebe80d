/** Checks where a request says that code comes from. */
import { fileRefusal, pathRefusal, repositoryRefusal, revisionRefusal } from '#guards/source-guards.ts';
import type { Context } from '../../framework/context.ts';
import { badField } from '../../ground/errors.ts';

/**
 * @param repository without credentials; absent passes
 * @param field of the request, as `body.repository`
 * @param isHelmRepository charts are also read from registries of images, which git never sees
 * @throws Refusal 400 that names the field
 */
export function checkRepository(
  { settings }: Pick<Context, 'settings'>,
  repository: string | undefined,
  field: string,
  isHelmRepository = false,
): void {
  if (repository === undefined) return;
  const address = isHelmRepository ? repository.replace(/^oci:\/\//i, 'https://') : repository;
  const allowed = { httpHosts: settings.gitHttpHosts, localPaths: settings.gitLocalPaths };
  const refused = repositoryRefusal(address, allowed);
  if (refused) throw badField(field, `is refused: ${refused}`);
}

/** @param revision empty and absent pass. @throws Refusal 400 that names the field */
export function checkRevision(revision: string | undefined, field: string): void {
  const refused = revision ? revisionRefusal(revision) : null;
  if (refused) throw badField(field, `is refused: ${refused}`);
}

/** @param path empty and absent pass. @throws Refusal 400 that names the field */
export function checkPath(path: string | undefined, field: string): void {
  const refused = path ? pathRefusal(path) : null;
  if (refused) throw badField(field, `is refused: ${refused}`);
}

/** @param path of a file; empty and absent pass. @throws Refusal 400 that names the field */
export function checkFile(path: string | undefined, field: string): void {
  const refused = path ? fileRefusal(path) : null;
  if (refused) throw badField(field, `is refused: ${refused}`);
}
