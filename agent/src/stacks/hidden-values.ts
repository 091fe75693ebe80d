/** Values of parameters with NoEcho, as far as this run knows them. */
import { type GetTemplateSummaryOutput, GetTemplateSummaryCommand } from '@aws-sdk/client-cloudformation';
import type { Api } from './api.ts';

/**
 * @param of a stack, or a change set of it, whose template says which parameters are hidden. AWS shows none of them;
 * others that speak its protocol may
 */
export async function hiddenValues(
  { client, request }: Pick<Api, 'client' | 'request'>,
  {
    StackName,
    Parameters = [],
  }: {
    readonly StackName?: string | undefined;
    readonly Parameters?:
      | readonly {
          readonly ParameterKey?: string | undefined;
          readonly ParameterValue?: string | undefined;
        }[]
      | undefined;
  },
): Promise<string[]> {
  const summary: GetTemplateSummaryOutput = await client
    .send(new GetTemplateSummaryCommand({ StackName }))
    .catch((): GetTemplateSummaryOutput => ({ $metadata: {} }) as GetTemplateSummaryOutput);
  const hidden = (summary.Parameters ?? []).filter(({ NoEcho }) => NoEcho === true);
  return hidden.flatMap(({ ParameterKey = '' }) => {
    const shown = Parameters.find((each) => each.ParameterKey === ParameterKey)?.ParameterValue ?? '';
    const known = request.parameters[ParameterKey] ?? '';
    return [known, /^\**$/.test(shown) ? '' : shown].filter((value) => value !== '');
  });
}
