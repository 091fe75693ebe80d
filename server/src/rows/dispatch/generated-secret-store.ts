/** The secret of an environment that the service makes where the variables of a run have none. */
import { randomBytes } from 'node:crypto';
import type { JobVariable } from '#protocol/messages/job.ts';
import { toolFacts } from '#protocol/tools/index.ts';
import type { Connection, Context } from '../../framework/context.ts';

type SecretContext = Pick<Context, 'db' | 'sealer'>;

/** As text in base64; a passphrase of this length cannot be guessed. */
const secretBytes = 32;

function association(environmentId: string, name: string) {
  return { table: 'environment_secret', row: `${environmentId} ${name}`, field: 'sealed_value' };
}

async function getSealed(db: Connection, environmentId: string, name: string): Promise<Buffer | undefined> {
  const row = await db
    .selectFrom('environment_secret')
    .select('sealed_value')
    .where('environment_id', '=', environmentId)
    .where('name', '=', name)
    .executeTakeFirst();
  return row?.sealed_value;
}

/** Stores a new secret, unless another transaction has stored one. */
async function makeSealed(
  { db, sealer }: SecretContext,
  environmentId: string,
  name: string,
): Promise<Buffer> {
  const value = randomBytes(secretBytes).toString('base64');
  await db
    .insertInto('environment_secret')
    .values({
      environment_id: environmentId,
      name,
      sealed_value: sealer.seal(value, association(environmentId, name)),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const sealed = await getSealed(db, environmentId, name);
  if (sealed === undefined)
    throw new Error(`The secret ${name} of environment ${environmentId} was not stored`);
  return sealed;
}

/**
 * @param tool of the run
 * @param variables of the run, of type 0
 * @returns the variable that the run gets in addition; none if it has its own, or the tool needs none
 */
export async function generatedSecrets(
  context: SecretContext,
  environmentId: string,
  tool: string,
  variables: readonly JobVariable[],
): Promise<JobVariable[]> {
  const generated = toolFacts(tool)?.generatedSecret;
  if (generated === undefined) return [];
  const { variable: name, unless } = generated;
  if (variables.some((own) => own.value !== '' && [name, ...unless].includes(own.name))) return [];
  const sealed =
    (await getSealed(context.db, environmentId, name)) ?? (await makeSealed(context, environmentId, name));
  const value = context.sealer.open(sealed, association(environmentId, name)).toString('utf8');
  return [{ name, value, isSensitive: true, isLiteral: true }];
}
