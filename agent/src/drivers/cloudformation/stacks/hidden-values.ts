/** Values of parameters with NoEcho, as far as this run knows them. */
import { GetTemplateSummaryCommand, type GetTemplateSummaryOutput } from '@aws-sdk/client-cloudformation';
import type { Api } from './api/api.ts';
import { specifiedValues } from './parameters.ts';

/**
 * @param of a stack, or a change set of it, whose template says which parameters are hidden. AWS shows none of them;
 * others that speak its protocol may
 * @throws an error of AWS: without an answer, it is unknown what is hidden
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
  const summary: GetTemplateSummaryOutput = await client.send(new GetTemplateSummaryCommand({ StackName }));
  const values = specifiedValues(request);
  const hidden = (summary.Parameters ?? []).filter(({ NoEcho }) => NoEcho === true);
  return hidden.flatMap(({ ParameterKey = '', DefaultValue }) => {
    const shown = Parameters.find((each) => each.ParameterKey === ParameterKey)?.ParameterValue ?? '';
    const known = values[ParameterKey] ?? DefaultValue ?? '';
    return [known, /^\**$/.test(shown) ? '' : shown].filter((value) => value !== '');
  });
}
