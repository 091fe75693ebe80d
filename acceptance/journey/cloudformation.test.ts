/** A stack on its journey, in an AWS account that a test server simulates. */
import { type StackServer, startStackServer } from '../../agent/testing/cloudformation/server.ts';
import { withOwnProgram } from '../../agent/testing/cloudformation/with-own-program.ts';
import { journey } from './journey.ts';
import type { JourneyScenario, World } from './traveller.ts';

const secret = 'planted-secret-of-the-journey';

const parameters = `
Parameters:
  Delay: { Type: Number }
  Token: { Type: String, NoEcho: true }
`;
const resources = `
Resources:
  Orders: { Type: AWS::SQS::Queue, Properties: { DelaySeconds: !Ref Delay } }
  Sealed: { Type: AWS::SSM::Parameter, Properties: { Type: String, Value: !Ref Token } }
`;
const outputs = `
Outputs:
  Delay: { Value: !Sub 'after \${Delay} seconds' }
`;
const slow = '  Slow: { Type: AWS::SQS::Queue, DependsOn: Orders }\n';
const blocked = `  Made: { Type: AWS::SNS::Topic, Properties: { DisplayName: made } }
  Blocked: { Type: AWS::SNS::Topic, DependsOn: Made, Properties: { DisplayName: written } }
`;
const template = (...more: string[]) => ({
  'stack.yaml': `${parameters}${resources}${more.join('')}${outputs}`,
});

/** Resources by their logical ids, with what matters of them. */
function worldOf({ account }: StackServer): World {
  const found = [...account.cloud.resources.values()].map(({ physicalId, properties }) => {
    const { DelaySeconds, Value, DisplayName } = properties;
    const matter = [DelaySeconds, Value, DisplayName].find((value) => value !== undefined) ?? '';
    return [
      physicalId.split('-')[1] ?? physicalId,
      typeof matter === 'string' ? matter : JSON.stringify(matter),
    ] as const;
  });
  return Object.fromEntries(found.sort());
}

journey({
  type: 'cloudformation',
  needs: withOwnProgram,
  settings: async () => ({}),
  async arrive(t): Promise<JourneyScenario> {
    const aws = await startStackServer();
    t.after(() => aws[Symbol.asyncDispose]());
    const { account } = aws;
    const { cloud } = account;
    // Its creation never ends.
    cloud.hold({ work: 'create', logicalId: 'Slow' });
    const delay = (value: string) => ({ name: 'Delay', value, type: 1 as const });
    const access = Object.entries(aws.environment).map(([name, value]) => ({
      name,
      value,
      type: 0 as const,
    }));
    const changed = { Orders: '20', Sealed: secret };
    return {
      files: template(),
      secret,
      request: {
        workspaceName: 'journey',
        fileName: 'stack.yaml',
        configurationChanges: [
          ...access,
          delay('10'),
          { name: 'Token', value: secret, type: 1, isSensitive: true },
        ],
      },
      world: async () => worldOf(aws),
      create: {
        rows: ['create Orders', 'create Sealed'],
        summary: { added: 2, changed: 0, destroyed: 0 },
        world: { Orders: '10', Sealed: secret },
        outputs: { Delay: 'after 10 seconds' },
      },
      change: {
        variables: [delay('20')],
        rows: ['update Orders'],
        summary: { added: 0, changed: 1, destroyed: 0 },
        world: changed,
        outputs: { Delay: 'after 20 seconds' },
      },
      drift: {
        cause: async () => cloud.change(cloud.resourceNamed('Orders').physicalId, { DelaySeconds: '900' }),
        row: 'update Orders',
        evidence: /"name":"DelaySeconds","after":"20","before":"900"/,
      },
      hang: {
        files: template(slow),
        isWaiting: async () =>
          account.stack('journey').resources.get('Slow')?.status === 'CREATE_IN_PROGRESS',
        // AWS rolls the update back.
        next: {
          files: template(),
          rows: [],
          summary: { added: 0, changed: 0, destroyed: 0 },
          world: changed,
        },
      },
      failure: {
        files: template(blocked),
        spoil: async () => cloud.refuse('create', 'Blocked', 'Topic limit exceeded'),
        reason: /UPDATE_ROLLBACK_COMPLETE: Blocked \(AWS::SNS::Topic\): Topic limit exceeded/,
        // Created resources are rolled back.
        world: changed,
        mend: async () => cloud.refuse('create', 'Blocked', null),
        next: {
          rows: ['create Blocked', 'create Made'],
          summary: { added: 2, changed: 0, destroyed: 0 },
          world: { Blocked: 'written', Made: 'made', ...changed },
        },
      },
      destroy: {
        rows: ['delete Blocked', 'delete Made', 'delete Orders', 'delete Sealed'],
        summary: { added: 0, changed: 0, destroyed: 4 },
        world: {},
      },
    };
  },
});
