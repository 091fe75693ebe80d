/**
 * The rules that keep a run right, whatever is killed, each with a test that fails without it.
 * `rules.test.ts` looks for the tests; docs/operate/recovery.md refers to them.
 */

/** A rule, and where its test is. */
export interface RecoveryRule {
  /** One sentence. */
  readonly rule: string;
  /** The file of the test, below the root. */
  readonly file: string;
  /** The name of the test, as it is in the file. */
  readonly test: string;
}

const inDispatch = (name: string) => `server/src/runs/dispatch/${name}.test.ts`;
const inState = (name: string) => `server/src/runs/state/${name}.test.ts`;
const inRuns = (name: string) => `agent/src/runner/phases/${name}.test.ts`;

/** The rules by what they are about, in the order of a run. */
export const rules: Readonly<Record<string, readonly RecoveryRule[]>> = {
  Jobs: [
    {
      rule: 'At most one deployment that changes an environment is active; the database enforces it.',
      file: 'server/src/runs/deployments/queue.test.ts',
      test: 'the database refuses a second running deployment of an environment, whatever the program decides',
    },
    {
      rule: 'A deployment that has to wait is queued, says behind which one, and starts when that one ends.',
      file: 'server/src/runs/deployments/queue.test.ts',
      test: 'a second deployment is queued, says behind which one, and starts when that one ends',
    },
    {
      rule: 'Each job goes to one agent, under an attempt number and a fence.',
      file: inDispatch('claim-job'),
      test: 'agents that claim simultaneously get each job exactly once',
    },
    {
      rule: 'An apply goes only to an agent whose work folder has the same path as that of the plan.',
      file: inDispatch('claim-job'),
      test: 'a job goes only to an agent that has its tool, and an apply only to one that has its folder',
    },
    {
      rule: 'A level of a deployment that is lost while it is planned starts again; its apply does not.',
      file: 'server/src/runs/deployments/levels.test.ts',
      test: 'a plan between two levels that is lost starts again, and an apply with a mark does not',
    },
    {
      rule: 'A repeated outcome hands out no apply of another level.',
      file: 'server/src/runs/deployments/levels.test.ts',
      test: 'an outcome that is sent again does not hand out the apply of another level',
    },
  ],
  Attempts: [
    {
      rule: 'An attempt that two lists of its agent lack is replaced under a new fence. The old one may then only send its state.',
      file: inDispatch('finish-attempt'),
      test: 'an attempt missing from two lists is replaced, and may then send only its state',
    },
    {
      rule: 'Lists that an agent sent before it had the answer to its claim do not count.',
      file: inDispatch('compare-held'),
      test: 'lists from before the answer to a claim do not count against its attempt',
    },
    {
      rule: 'A claim whose answer was lost is handed out again.',
      file: inDispatch('compare-held'),
      test: 'a claim whose answer was lost is handed out again once the answer cannot arrive',
    },
    {
      rule: 'An agent lists an attempt only once its folder is complete on disk.',
      file: 'agent/src/agent-kill.test.ts',
      test: 'an agent that is killed before it has a claim on disk does not list it',
    },
    {
      rule: 'An apply that follows its plan at once stays with its agent, even if the answer was lost.',
      file: inDispatch('compare-held'),
      test: 'an apply whose handover was lost stays with its agent while the outcome is sent again',
    },
    {
      rule: 'An attempt without a start mark is started again, three times in total.',
      file: inDispatch('finish-attempt'),
      test: 'a run that is lost again and again ends after three attempts',
    },
  ],
  'Start marks': [
    {
      rule: 'No command that changes resources starts before the service has stored its mark.',
      file: inRuns('task-runs'),
      test: 'a task does not start until the server has stored its mark',
    },
    {
      rule: 'The same mark again is accepted, another one is refused.',
      file: inDispatch('finish-attempt'),
      test: 'a start mark is accepted once: a repetition is fine, a different one is refused',
    },
    {
      rule: 'An attempt with a mark and without an outcome is never started again by the service.',
      file: inDispatch('finish-attempt'),
      test: 'a run lost after its mark is never started again, and reports what is known',
    },
    {
      rule: 'Neither is it started again by its agent.',
      file: 'agent/src/runner/run-phase.test.ts',
      test: 'a run with a mark is never started again',
    },
    {
      rule: 'A retry takes a mark of its own, after the known end of the command before.',
      file: 'server/src/runs/deployments/deployment-types.test.ts',
      test: 'retry settings reach the apply with the approval, and each retry has its own count and mark',
    },
  ],
  Reports: [
    {
      rule: 'Log bytes count once, by their offset.',
      file: inDispatch('reports/receive-report'),
      test: 'log bytes sent twice, overlapping or with a gap are stored once, and the answer says where to resume',
    },
    {
      rule: 'Events count once, by their position.',
      file: inDispatch('reports/receive-report'),
      test: 'repeated events change nothing, and events after a gap wait',
    },
    {
      rule: 'An outcome counts once: the same one again gets the same answer, another one is refused.',
      file: inDispatch('finish-attempt'),
      test: 'a repeated outcome gets the same answer, and a different one is refused',
    },
    {
      rule: 'An outcome counts only together with everything that was reported before it.',
      file: inDispatch('finish/receive-rest'),
      test: 'an outcome is not taken while something of its rest cannot be stored',
    },
    {
      rule: 'Everything is durable on disk before it is reported, and is removed only after the answer.',
      file: 'acceptance/recovery/durability.test.ts',
      test: 'a run is durable before it is reported, and a blob before the row that names it',
    },
    {
      rule: 'Reports of a run that was given up change nothing.',
      file: inDispatch('reports/receive-report'),
      test: 'reports of a run that was given up change nothing',
    },
    {
      rule: 'The late outcome of a replaced attempt is refused, with all that it contains.',
      file: inDispatch('finish/receive-rest'),
      test: 'a late outcome of a replaced attempt stores nothing of its rest',
    },
    {
      rule: 'What leaves the agent is the masked content of its spool folder, however often it is sent.',
      file: 'agent/src/ship/step-log.test.ts',
      test: 'the sent log is the masked raw file, however it is read, interrupted and requested again',
    },
  ],
  Processes: [
    {
      rule: 'A run continues without its agent, and the next agent on the spool folder adopts its runner.',
      file: 'agent/src/agent-service.test.ts',
      test: 'an agent that signs off does not stop its run, and the next one finds it',
    },
    {
      rule: 'One agent at a time holds a spool folder; one whose epoch was replaced ends without stopping its runs.',
      file: 'agent/src/agent-service.test.ts',
      test: 'only one agent can hold a spool; an agent whose epoch was replaced ends without stopping its runs',
    },
    {
      rule: 'The service refuses the calls of an older epoch.',
      file: inDispatch('claim-job'),
      test: 'an older process of the same spool learns that it was replaced',
    },
    {
      rule: 'The tool of a killed runner is interrupted once, and ends on its own.',
      file: 'agent/src/processes/exec.test.ts',
      test: 'a killed runner interrupts its tool exactly once, as a second interrupt would lose the state',
    },
    {
      rule: 'The agent sends what the tool of a killed runner has written.',
      file: 'agent/src/agent-kill.test.ts',
      test: 'when a runner is killed during an apply, its tool ends cleanly and the state is kept',
    },
    {
      rule: 'A runner that is killed before its mark is reported as lost at once.',
      file: 'agent/src/agent-kill.test.ts',
      test: 'a runner that is killed before its mark is reported as lost',
    },
  ],
  'Silence and aborts': [
    {
      rule: 'An attempt without a mark moves to another agent when its own is silent.',
      file: inDispatch('silence'),
      test: 'an attempt without a mark moves to another agent when its own is silent',
    },
    {
      rule: 'An attempt with a mark stays until the give-up, which unlocks the environment and gives the reason.',
      file: inDispatch('silence'),
      test: 'an attempt with a mark stays until the give-up, which releases the environment and gives the reason',
    },
    {
      rule: 'Time in which no heartbeat could be stored is not silence.',
      file: inDispatch('silence'),
      test: 'time in which servers cannot store heartbeats does not count as silence',
    },
    {
      rule: 'A clock that is set neither hides silence nor counts as silence.',
      file: inDispatch('silence'),
      test: 'a clock that is set back an hour neither hides silence nor counts as silence',
    },
    {
      rule: 'The clock of a server fires no timer when it is set.',
      file: 'server/src/ground/database/clock.test.ts',
      test: "a jump of the machine's clock between two comparisons moves no time",
    },
    {
      rule: 'The clock of an agent stops no run when it is set.',
      file: 'agent/src/processes/stop-watch.test.ts',
      test: 'a jump of the clock stops no run, and hides no lost contact',
    },
    {
      rule: 'The runs of an agent that signs off follow the same rules.',
      file: inDispatch('silence'),
      test: 'the runs of an agent that stops follow the same rules',
    },
    {
      rule: 'Whatever is stored first counts: the return of an agent, or the give-up.',
      file: inDispatch('races'),
      test: 'a run continues when its agent returns just before the give-up',
    },
    {
      rule: 'The same holds for a start mark and the give-up.',
      file: inDispatch('races'),
      test: 'an attempt is not started again when its start mark arrives during the give-up',
    },
    {
      rule: 'A run without contact interrupts its tool after the offline grace.',
      file: inRuns('stopped-runs'),
      test: 'a runner interrupts its tool when the agent has had no contact for the grace time',
    },
    {
      rule: 'A person with the right releases a silent run, with a reason, and no other one.',
      file: inDispatch('release-deployment'),
      test: 'a run whose agent is in contact cannot be released',
    },
    {
      rule: 'The same holds for a run that an abort does not end.',
      file: inDispatch('release-deployment'),
      test: 'a run that an abort does not end is released although its agent is in contact',
    },
    {
      rule: 'An agent gives up an outcome that the service never accepts, keeps its folder, and has the slot again.',
      file: 'agent/src/agent-service.test.ts',
      test: 'an outcome on which the service always fails is given up, and its folder is kept',
    },
    {
      rule: 'A run that no agent has claimed is aborted at once.',
      file: 'server/src/runs/deployments/environment-status.test.ts',
      test: 'an abort ends a run that no agent has yet; otherwise its agent is notified',
    },
    {
      rule: 'A tool that ignores its one interrupt is killed after the abort time.',
      file: inRuns('stopped-runs'),
      test: 'a tool that ignores the interrupt is killed after the abort time',
    },
    {
      rule: 'An abort of a silent run ends at the give-up, and a later outcome is refused.',
      file: inDispatch('silence'),
      test: 'an abort of a silent run with a mark waits for the give-up, and its late outcome is refused',
    },
    {
      rule: 'An outcome that is stored before the give-up counts, even if an abort was requested.',
      file: inDispatch('silence'),
      test: 'an outcome that is stored before the give-up counts, even if an abort was requested',
    },
  ],
  'State and plan': [
    {
      rule: 'A state is never refused for its fence: one that does not follow the current one is kept as rescued.',
      file: inState('rescue-reason'),
      test: 'each condition alone keeps a state from becoming current',
    },
    {
      rule: 'A state that arrives after the give-up does not replace the one that another run works on.',
      file: inState('late-states'),
      test: 'a state that arrives after the give-up does not replace the one that an apply starts from',
    },
    {
      rule: 'An attempt without a mark cannot change the current state.',
      file: inState('rescued-states'),
      test: 'an apply without a start mark cannot change the current state',
    },
    {
      rule: 'Only complete versions of a state are copied.',
      file: 'agent/src/runner/state/follow-state.test.ts',
      test: 'a state that is empty, truncated or half written is not copied, and the complete one is',
    },
    {
      rule: 'After a kill, resources that the last state lacks are listed.',
      file: 'agent/src/held/find-leftovers.test.ts',
      test: 'the newest complete state is kept, and resources that it does not contain are listed',
    },
    {
      rule: 'An apply with changes that leaves no newer state is not a success.',
      file: 'server/src/runs/deployments/environment-status.test.ts',
      test: 'an apply that lost its state reports that',
    },
    {
      rule: 'Nothing but what was approved is applied.',
      file: 'agent/src/runner/run-phase.test.ts',
      test: 'an apply of anything that was not approved is refused before its mark',
    },
    {
      rule: 'A plan that is older than the current state is neither approved nor applied.',
      file: 'server/src/runs/deployments/approval/approve-deployment.test.ts',
      test: 'a plan is not applied when the state changed while it was made',
    },
  ],
};
