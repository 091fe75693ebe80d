/** The checks of a template before anything is written. */
import { catalogueRepository } from '#contract/approval-policies/catalogue-repository.ts';
import { sharedRefusal, typeRefusal } from '#contract/templates/setting-rules.ts';
import type { TemplateRequest } from '#contract/templates/template-body.ts';
import { retryRefusal } from '#guards/retry-rule.ts';
import type { ActorContext } from '../../framework/context.ts';
import { badField } from '../../ground/errors.ts';
import { checkCredentials } from './check-credentials.ts';
import { checkFile, checkPath, checkRepository, checkRevision } from './check-source.ts';
import { splitCredentials } from './repository-credentials.ts';

/** Facts about a template apart from its settings. */
export interface TemplateContext {
  readonly organizationId: string;
  readonly projectIds: readonly string[];
  readonly isSingleUse: boolean;
}

/**
 * Whether the settings fit the tool and each other.
 * @param isShared environments without a template of their own use them too
 * @throws Refusal 400 that names the field
 */
export function checkToolSettings(
  request: Omit<TemplateRequest, 'name' | 'repository'>,
  isShared = false,
): void {
  const wrong = typeRefusal(request) ?? (isShared ? sharedRefusal(request) : null);
  if (wrong) throw badField(`body.${wrong.field}`, wrong.reason);
  const retry = request.retry ? retryRefusal(request.retry) : null;
  if (retry) throw badField(`body.retry.${retry.field}`, retry.reason);
}

/** @throws Refusal 400 that names the field */
export async function checkTemplate(
  context: ActorContext,
  request: TemplateRequest,
  { organizationId, projectIds, isSingleUse }: TemplateContext,
): Promise<void> {
  checkToolSettings(request, !isSingleUse);
  const { repository } = splitCredentials(request.repository);
  const isCatalogue = request.type === 'approval-policy' && repository === catalogueRepository;
  if (!isCatalogue) checkRepository(context, repository, 'body.repository', request.isHelmRepository);
  checkRevision(request.revision, 'body.revision');
  checkPath(request.path, 'body.path');
  checkFile(request.fileName, 'body.fileName');
  await checkCredentials(context, { organizationId, projectIds }, { ...request, repository }, 'body');
}
