/** Breakdown of the time of a deployment. */
import { type Static, Type } from 'typebox';
import { oneOf } from '../schema/enumerations.ts';
import { replyObject, Text } from '../schema/schema.ts';

export const timelinePhases = [
  'queue',
  'request',
  'claim',
  'lost',
  'start',
  'checkout',
  'setup',
  'init',
  'plan',
  'reading',
  'approval',
  'restore',
  'apply',
  'outputs',
  'task',
  'state',
  'end',
] as const;
export type TimelinePhaseName = (typeof timelinePhases)[number];

/** Milliseconds; parts of one whole. */
const times = {
  milliseconds: Type.Integer({ minimum: 0, description: 'All of it: the sum of the four parts' }),
  toolMilliseconds: Type.Integer({
    minimum: 0,
    description: 'In which a program other than git ran: the tool, a hook or a task',
  }),
  gitMilliseconds: Type.Integer({ minimum: 0, description: 'In which only git ran' }),
  waitingMilliseconds: Type.Integer({
    minimum: 0,
    description: 'Behind other deployments of the environment, or for approval',
  }),
  ownMilliseconds: Type.Integer({
    minimum: 0,
    description: 'Everything else: the time of the service itself',
  }),
};

export const TimelinePhase = replyObject('TimelinePhase', {
  phase: oneOf(timelinePhases, 'What was done; docs/operate/performance.md says from when to when'),
  run: Type.Optional(
    oneOf(['plan', 'apply'], 'The run that the phase is part of; absent: it is before or between runs'),
  ),
  step: Type.Optional(Type.String({ description: 'The step, for phases that are one' })),
  ...times,
});
export type TimelinePhase = Static<typeof TimelinePhase>;

export const TimelineCommand = replyObject('TimelineCommand', {
  step: Text,
  label: Type.String({ description: 'The program with its verb, such as `terraform plan`' }),
  program: Type.String({ description: '`git`, `terraform` …' }),
  milliseconds: Type.Integer({ minimum: 0, description: 'From its start to its end' }),
  cpuMilliseconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Processor time of the command, its sandbox and all their children',
    }),
  ),
});
export type TimelineCommand = Static<typeof TimelineCommand>;

export const DeploymentTimeline = replyObject(
  'DeploymentTimeline',
  {
    deploymentLogId: Text,
    ...times,
    phases: Type.Array(TimelinePhase, { description: 'In order; of a running deployment, those so far' }),
    commands: Type.Array(TimelineCommand, { description: 'All programs that its runs started, in order' }),
  },
  'Durations are measured on one machine each: clocks of the service and its agents are never compared',
);
export type DeploymentTimeline = Static<typeof DeploymentTimeline>;
