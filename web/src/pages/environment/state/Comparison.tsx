/** Differences between two versions of a state. */
import { Button } from '@mantine/core';
import type { StateComparison } from '#contract/state/shapes.ts';
import { useRead } from '../../../api/queries.ts';
import { Loaded } from '../../../ui/Loaded.tsx';
import { useSearchState } from '../../../ui/search.ts';
import { TimeAgo } from '../../../ui/Time.tsx';
import { AttributeRow } from '../../deployment/plan/AttributeRow.tsx';
import classes from '../facts/environment.module.css';
import { versionName } from './words.ts';

type ComparedResource = StateComparison['resources'][number];
type ComparedOutput = StateComparison['outputs'][number];

const signs = { added: '+', removed: '−', changed: '~' } as const;
const sidesOf = { added: 'after', removed: 'before', changed: 'both' } as const;

/** The value of a sensitive one is replaced by the service too; here it reads as all other sealed values do. */
function attributeOf({
  name,
  isSensitive,
  before,
  after,
}: ComparedResource['attributes'][number] | ComparedOutput) {
  const sealed = '(sensitive)';
  return {
    name,
    ...(before === undefined ? {} : { before: isSensitive ? sealed : before }),
    ...(after === undefined ? {} : { after: isSensitive ? sealed : after }),
  };
}

function Difference({
  change,
  address,
  attributes,
}: {
  change: ComparedResource['change'];
  address: string;
  attributes: ComparedResource['attributes'];
}) {
  return (
    <li>
      <details className={classes.difference} open={change === 'changed' && attributes.length <= 20}>
        <summary>
          <span data-change={change} className={classes.change}>
            <span aria-hidden="true">{signs[change]}</span> {change}
          </span>{' '}
          <code>
            <bdi>{address}</bdi>
          </code>
        </summary>
        <div role="list" aria-label={`Attributes of ${address}`}>
          {attributes.map((attribute) => (
            <AttributeRow key={attribute.name} attribute={attributeOf(attribute)} sides={sidesOf[change]} />
          ))}
        </div>
      </details>
    </li>
  );
}

function Differences({ comparison }: { readonly comparison: StateComparison }) {
  const { resources, outputs, unchangedResourceCount, isSameLineage } = comparison;
  const isSame = resources.length === 0 && outputs.length === 0;
  return (
    <>
      {!isSameLineage && (
        <p className={classes.problem}>
          The lineages differ: these states belong to different infrastructure, or one was recreated.
        </p>
      )}
      <p className={classes.faint}>
        {isSame ? 'Nothing differs. ' : ''}
        {unchangedResourceCount} resources are the same in both.
      </p>
      <ul className="plain">
        {resources.map(({ address, change, attributes }) => (
          <Difference key={address} {...{ address, change, attributes }} />
        ))}
        {outputs.map((output) => (
          <Difference
            key={`output ${output.name}`}
            address={`output ${output.name}`}
            change={output.change}
            attributes={[{ ...output, name: 'value' }]}
          />
        ))}
      </ul>
    </>
  );
}

export function Comparison({ id, other }: { readonly id: string; readonly other: string | undefined }) {
  const [, setSearch] = useSearchState();
  const query = useRead('compareStateVersions', {
    params: { id },
    query: other === undefined ? {} : { with: other },
  });
  return (
    <section className={classes.section} aria-label="Comparison">
      <div className={classes.head}>
        <h2>Comparison</h2>
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => setSearch({ compare: undefined, with: undefined }, true)}
        >
          Close the comparison
        </Button>
      </div>
      <Loaded query={query}>
        {(comparison) => (
          <>
            <p>
              From {versionName(comparison.before)}, made <TimeAgo at={comparison.before.createdAt} />, to{' '}
              {versionName(comparison.after)}, made <TimeAgo at={comparison.after.createdAt} />
            </p>
            <Differences comparison={comparison} />
          </>
        )}
      </Loaded>
    </section>
  );
}
