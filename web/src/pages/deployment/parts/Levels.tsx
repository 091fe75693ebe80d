/** Of a deployment whose units are applied in levels: which one this is, what the earlier ones did, and what follows. */
import { followingSentences } from '#contract/deployments/following-units.ts';
import type { PlannedUnit } from '#contract/deployments/plan.ts';
import { planText } from '#contract/deployments/plan-counts.ts';
import type { DeploymentLevel, Step } from '#contract/deployments/shapes.ts';
import { isTerminal } from '#contract/life-cycle/life-cycle.ts';
import { TimeAgo } from '../../../ui/Time.tsx';
import { type DeploymentReply, useEarlierLevels } from '../facts/reads.ts';
import { levelText } from '../facts/sentence.ts';
import { KindMark } from '../plan/PlanMarks.tsx';
import { rowsOf } from '../plan/rows.ts';
import classes from './parts.module.css';

const shownResources = 200;

/** The units that a plan applies, as paths. */
function Units({ units = [] }: { readonly units: readonly PlannedUnit[] | undefined }) {
  const applied = units.filter(({ reason }) => reason === undefined);
  if (applied.length === 0) return null;
  return <bdi className="mono">{applied.map(({ unit }) => unit).join(', ')}</bdi>;
}

function Resources({ level: { level, plan } }: { readonly level: DeploymentLevel }) {
  const rows = rowsOf(plan?.resourceChanges ?? []).filter(({ kind }) => kind !== 'defer');
  if (rows.length === 0) return null;
  return (
    <details>
      <summary>{rows.length === 1 ? '1 resource' : `${rows.length} resources`}</summary>
      <ul tabIndex={0} aria-label={`Resources of level ${level}`}>
        {rows.slice(0, shownResources).map(({ key, kind, change }) => (
          <li key={key}>
            <KindMark kind={kind} />
            <bdi>{change.path}</bdi>
          </li>
        ))}
        {rows.length > shownResources && <li>… and {rows.length - shownResources} more</li>}
      </ul>
    </details>
  );
}

function Earlier({ level: each }: { readonly level: DeploymentLevel }) {
  const { level, planSummary, appliedAt, units } = each;
  const changes = planSummary && planText({ planSummary }, 'done');
  return (
    <li>
      <b>Level {level}</b> <Units units={units} /> applied <TimeAgo at={appliedAt} />
      {changes !== undefined && `: ${changes}`}
      <Resources level={each} />
    </li>
  );
}

interface LevelsProps {
  readonly deployment: DeploymentReply;
  readonly steps: readonly Step[];
}

/** Nothing for a deployment with one plan. */
export function Levels({ deployment, steps }: LevelsProps) {
  const { level = 1, status, units } = deployment;
  const { data: earlier = [] } = useEarlierLevels(deployment);
  const following = isTerminal(status) ? [] : followingSentences(units);
  if (level === 1 && following.length === 0) return null;
  // In the end, its units are those of all levels.
  const isWhole = status === 'SUCCESS';
  return (
    <section className={classes.levels} aria-labelledby="levels">
      <h2 id="levels">{isWhole ? `Applied in ${level} levels` : `Level ${level}`}</h2>
      <ol>
        {earlier.map((each) => (
          <Earlier key={each.level} level={each} />
        ))}
        <li aria-current={isWhole ? undefined : 'step'}>
          <b>Level {level}</b> {!isWhole && <Units units={units} />} {levelText(deployment, steps)}
        </li>
      </ol>
      {following.map((text) => (
        <p key={text}>{text}.</p>
      ))}
    </section>
  );
}
