/** Checks approval policies of the catalogue when they are stored: that there is one, and its configuration. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { catalogueRepository } from '#contract/approval-policies/catalogue-repository.ts';
import { badField } from '../../ground/errors.ts';
import { catalogue, findInCatalogue } from './evaluation/catalogue.ts';

interface CataloguedPolicy {
  readonly repository: string;
  readonly revision?: string | null | undefined;
  readonly path?: string | null | undefined;
  readonly policyConfiguration?: unknown;
}

const ajv = new Ajv2020({ allErrors: false });

/**
 * Those of other repositories pass: their files are read when a deployment is checked.
 * @throws Refusal 400 that names the field
 */
export function checkCataloguePolicy(body: CataloguedPolicy): void {
  if (body.repository !== catalogueRepository) return;
  if (body.revision)
    throw badField('body.revision', 'must be absent: the catalogue has the version of the service');
  const policy = findInCatalogue(body.path ?? undefined);
  if (!policy) {
    const paths = catalogue().map(({ path }) => path);
    throw badField('body.path', `must be a policy of the catalogue: ${paths.join(', ')}`);
  }
  if (!policy.configurationSchema) return;
  const schema = policy.configurationSchema;
  if (ajv.validate(schema, body.policyConfiguration ?? {})) return;
  const [error] = ajv.errors ?? [];
  const place = (error?.instancePath ?? '').replaceAll('/', '.');
  const extra = (error?.params as { additionalProperty?: string } | undefined)?.additionalProperty;
  const reason =
    extra === undefined
      ? `${error?.message ?? 'does not fit'}, as ${policy.path} requires`
      : `has the property "${extra}", which ${policy.path} does not know`;
  throw badField(`body.policyConfiguration${place}`, reason);
}
