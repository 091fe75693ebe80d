/** Monthly costs of a deployment, and its changes to them. */
import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { CostEstimation } from '#contract/deployments/plan.ts';
import type { Step } from '#contract/deployments/shapes.ts';
import { amountChangeText, amountText, moneyChangeText, moneyText } from '../../../design/money.ts';
import { DataTable } from '../../../ui/DataTable.tsx';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import type { DeploymentReply } from '../facts/reads.ts';
import classes from '../parts/parts.module.css';
import { type CostRow, costRows } from './cost-rows.ts';

const costStep = 'cost:estimation';

/** Whether a deployment has costs to show, or a step that says why not. */
export function hasCosts({ costEstimation }: DeploymentReply, steps: readonly Step[]): boolean {
  return costEstimation !== null || steps.some(({ name }) => name === costStep);
}

function Summary({ costs }: { readonly costs: CostEstimation }) {
  const { totalMonthlyCost = 0, monthlyCostDiff = 0, currency } = costs;
  return (
    <p className={classes.costs}>
      <strong>{moneyText(totalMonthlyCost, currency)}</strong> a month,{' '}
      {monthlyCostDiff === 0
        ? 'as before'
        : `${moneyChangeText(monthlyCostDiff, currency)} by this deployment`}
    </p>
  );
}

/** Resources that the totals leave out. */
function Remarks({
  costs: { projects = [], withoutPrice = 0, omitted = 0 },
}: {
  readonly costs: CostEstimation;
}) {
  const unknown = projects.flatMap(({ unsupported = {} }) => Object.entries(unsupported));
  return (
    <>
      {withoutPrice > 0 && (
        <p>
          {withoutPrice === 1 ? 'One resource lacks' : `${withoutPrice} resources lack`} a price and{' '}
          {withoutPrice === 1 ? 'counts' : 'count'} less than {withoutPrice === 1 ? 'it costs' : 'they cost'}.
        </p>
      )}
      {unknown.length > 0 && (
        <p className={classes.remark}>
          Not included, because Infracost does not know them:{' '}
          <bdi>{unknown.map(([type, count]) => `${count} ${type}`).join(', ')}</bdi>.
        </p>
      )}
      {omitted > 0 && <p>{omitted} cheaper resources are in the total and not in the table.</p>}
    </>
  );
}

function Costs({ costs }: { readonly costs: CostEstimation }) {
  const rows = useMemo(() => costRows(costs), [costs]);
  const { currency = 'USD' } = costs;
  const hasUnits = rows.some(({ unit }) => unit !== '');
  return (
    <>
      <Summary costs={costs} />
      <Remarks costs={costs} />
      {rows.length === 0 ? (
        <EmptyState title="Nothing here has a price">
          Infracost knows the resources of AWS, Azure and Google Cloud.
        </EmptyState>
      ) : (
        <DataTable<CostRow>
          label="Costs"
          rows={rows}
          idOf={({ unit, name }) => `${unit} ${name}`}
          columns={[
            { id: 'name', head: 'Resource', cell: ({ name }) => <bdi className="mono">{name}</bdi> },
            ...(hasUnits
              ? [{ id: 'unit', head: 'Unit', cell: ({ unit }: CostRow) => <bdi>{unit}</bdi>, isMinor: true }]
              : []),
            {
              id: 'monthly',
              head: `${currency} a month`,
              isNumber: true,
              cell: ({ monthly, isWithoutPrice }) => (
                <>
                  {monthly === undefined ? 'by usage' : amountText(monthly)}
                  {isWithoutPrice && <span className={classes.missing}> a price is missing</span>}
                </>
              ),
            },
            {
              id: 'change',
              head: 'Change',
              isNumber: true,
              cell: ({ change }) => (change === 0 ? '–' : amountChangeText(change)),
            },
          ]}
        />
      )}
    </>
  );
}

export function CostsTab({
  deployment,
  steps,
}: {
  readonly deployment: DeploymentReply;
  readonly steps: readonly Step[];
}) {
  const { costEstimation, id = '' } = deployment;
  if (costEstimation !== null) return <Costs costs={costEstimation} />;
  const status = steps.find(({ name }) => name === costStep)?.status ?? 'NOT_STARTED';
  if (['NOT_STARTED', 'IN_PROGRESS'].includes(status))
    return <EmptyState title="No estimate yet">Costs are estimated after the plan.</EmptyState>;
  return (
    <EmptyState title="Costs were not estimated">
      <Anchor
        component={Link}
        to="/deployments/$deploymentId"
        params={{ deploymentId: id } as never}
        search={{ tab: 'log', step: costStep } as never}
      >
        The log of the step {costStep} says why
      </Anchor>
      . The deployment continues without.
    </EmptyState>
  );
}
