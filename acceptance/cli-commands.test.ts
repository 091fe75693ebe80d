/** Every command of the command line, against a real service with real runs. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import type { Agent, AgentSecret } from '#contract/agents/shapes.ts';
import type { Budget } from '#contract/costs/shapes.ts';
import type { Deployment } from '#contract/deployments/shapes.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import type { Project } from '#contract/projects/shapes.ts';
import type { StateComparison, StateVersion } from '#contract/state/shapes.ts';
import type { Variable } from '#contract/variables/shapes.ts';
import { cliProgram } from '../tools/programs/built-programs.ts';
import { commandLine } from './command-line.ts';
import { findProgram, withoutTerraform } from './programs.ts';
import { makeRepository, type Repository, type RunningService, startService } from './service.ts';

const files = {
  'main.tf': `variable "greeting" { default = "hello" }
variable "ports" {
  type    = list(number)
  default = []
}
variable "place" { default = "" }
resource "terraform_data" "it" { input = var.greeting }
resource "terraform_data" "other" { input = length(var.ports) }
output "greeting" { value = terraform_data.it.output }
output "ports" { value = length(var.ports) }
`,
  'drifting/main.tf': `variable "place" {}
resource "terraform_data" "kept" { input = fileexists("\${var.place}/drift") ? "elsewhere" : "here" }
`,
};

interface Doctor {
  readonly problems: number;
  readonly service: readonly { check: string; standing: string; text: string; advice?: string }[];
}

describe('the commands', { skip: withoutTerraform }, () => {
  let service: RunningService;
  let repository: Repository;
  let folder: string;

  const { envarium, good, json } = commandLine(() => service);

  before(async () => {
    service = await startService({ settings: { ENVARIUM_OPA: '/nowhere/opa' } });
    folder = service.folder;
    repository = await makeRepository(folder, 'infra', files);
    await good`environment create web --repository ${repository.path} --no-require-approval --tag blue --wait`;
  });
  after(() => service?.[Symbol.asyncDispose]());

  test('projects form a tree that can be changed, moved, archived and restored', async () => {
    const shop = await json<Project>`project create Shop`;
    await good`project create Cart --parent Shop --tag team-a`;
    assert.match(await good`project show Cart`, new RegExp(`Parent: +${shop.id}[^]*team-a`));
    await good`project update Cart --name Basket --description ${'what is bought'} --no-tags`;
    const basket = await json<Project>`project show Basket`;
    assert.deepEqual([basket.description, basket.tags], ['what is bought', []]);
    await good`project move Basket --top`;
    assert.equal((await json<Project>`project show Basket`).parentProjectId, undefined);
    await good`project archive Basket`;
    assert.equal((await json<Project>`project show Basket`).isArchived, true);
    await good`project restore Basket`;
    assert.equal((await json<Project>`project show ${basket.id}`).isArchived, false);
    const twice = await envarium`project show Nowhere`;
    assert.deepEqual([twice.status, /no project "Nowhere"/.test(twice.stderr)], [2, true]);
  });

  test('the budget of a project is set, shown, replaced and deleted', async () => {
    await good`project create Dear`;
    const none = await envarium`budget show Dear`;
    assert.deepEqual([none.status, /has no budget/.test(none.stderr)], [2, true], none.stderr);
    const { status, stdout, stderr } =
      await envarium`budget set Dear --amount 99.50 --timeframe MONTHLY --threshold 50 --threshold 120`;
    assert.equal(status, 0, stderr);
    assert.match(stdout, /Amount: +99\.5\nTimeframe: +monthly\nThresholds: +50 %, 120 %\n/);
    assert.match(stderr, /has no effect yet/);
    await good`budget set Dear --amount 7 --timeframe YEARLY`;
    const budget = await json<Budget>`budget show Dear`;
    assert.deepEqual([budget.amount, budget.timeframe, budget.thresholds], [7, 'YEARLY', []]);
    const wrong = await envarium`budget set Dear --amount much --timeframe YEARLY`;
    assert.deepEqual([wrong.status, /--amount must be a number, not "much"/.test(wrong.stderr)], [2, true]);
    const never = await envarium`budget set Dear --amount 7 --timeframe DAILY`;
    assert.deepEqual([never.status, /--timeframe/.test(never.stderr)], [2, true], never.stderr);
    assert.equal(await good`budget delete Dear`, 'The budget of Dear was deleted\n');
    await good`project archive Dear`;
  });

  test('an organization can be shown, and its policies changed', async () => {
    await good`organization policies --max-ttl 30d --default-ttl infinite`;
    assert.match(await good`organization show`, /Maximum lifetime: +30-d/);
    const wrong = await envarium`organization policies --max-ttl ${'3 days'}`;
    assert.deepEqual([wrong.status, /--max-ttl must be/.test(wrong.stderr)], [2, true]);
    await good`organization policies --max-ttl infinite`;
  });

  test('an environment gets a lifetime, schedules, tags and another project, and is archived', async () => {
    assert.match(await good`environment ttl web 3d`, /web expires at 20\d\d-/);
    assert.match(await good`environment ttl web infinite`, /has no expiry/);
    assert.match(
      await good`environment schedule web --deploy ${'0 6 * * 1'}`,
      /Deployed: +0 6 \* \* 1 UTC, next at/,
    );
    assert.match(
      await good`environment schedule web --destroy ${'0 20 * * 5'}`,
      /Deployed: +0 6[^]*Destroyed: +0 20/,
      'omitted settings are unchanged',
    );
    const { id: project } = (await json<Project[]>`project list`).find(({ id }) => id !== '') ?? {
      id: '',
    };
    assert.ok(project);
    assert.match(await good`environment schedule web --no-deploy --no-destroy`, /Deployed: +never/);
    assert.match(await good`environment drift-schedule web --cron ${'0 3 * * *'}`, /checked at 0 3/);
    assert.match(await good`environment drift-schedule web --off`, /not checked automatically/);
    assert.equal(await good`environment tags`, 'blue\n');
    assert.equal((await json<Environment[]>`environment list --tag blue --search we`).length, 1);
    const found = await json<Environment[]>`environment list --status FAILED,TIMEOUT --sort=-name`;
    assert.deepEqual(found, []);
    assert.equal((await json<Environment[]>`environment list --drift DISABLED,NEVER_RUN`).length, 1);
    await good`project create Elsewhere`;
    assert.match(await good`environment move web Elsewhere`, /was moved to project Elsewhere/);
    assert.equal((await json<Environment[]>`environment list --project Elsewhere`).length, 1);
    assert.equal(await good`project schedules Elsewhere`, 'No schedules.\n');
    await good`environment archive web`;
    assert.equal((await json<Environment[]>`environment list --archived`).length, 1);
    await good`environment restore web`;
    await good`environment update web --description ${'the shop'} --tag green`;
    assert.match(await good`environment show web`, /Description: +the shop\nTags: +green/);
  });

  test('HCL values reach the run, --wait shows only the result, and resources are listed', async () => {
    const done = await good`deploy web --hcl-var ${'ports=[80, 443]'} --json-var greeting="hi" --wait`;
    assert.doesNotMatch(done, /▸ tf:plan/);
    assert.match(done, /ports +2\n[^]*deploy SUCCESS in/);
    const one = await json<Deployment>`deploy web --type dryRun --wait`;
    assert.deepEqual([one.type, one.status], ['dryRun', 'SUCCESS']);
    assert.match(await good`resources -e web`, /terraform_data +it/);
    assert.match(await good`template show -e web`, /Repository: .*infra/);
    assert.equal((await json<Deployment[]>`deployments list web --type dryRun`).length, 1);
  });

  test('variables are read from files: those of a run, and secrets that no command line shows', async () => {
    const values = join(folder, 'web.tfvars.json');
    await writeFile(values, '{"ports": [1, 2, 3], "greeting": "of the file", "place": "kept"}');
    const place = join(folder, 'place');
    await writeFile(place, 'a secret place\n');
    const done =
      await good`deploy web --var-file ${values} --json-var ${'greeting="given"'} --env TF_LOG_PLACE=@${place}
        --sensitive TF_LOG_PLACE --sensitive place --wait`;
    assert.match(done, /greeting +given\nports +3\n/);
    const all = await json<Variable[]>`variables list -e web`;
    const found = (name: string) => all.find((each) => each.name === name);
    assert.deepEqual(
      [found('place')?.isSensitive, found('place')?.value, found('TF_LOG_PLACE')?.isSensitive],
      [true, '********', true],
    );
    assert.deepEqual([found('TF_LOG_PLACE')?.type, found('ports')?.schema.format], [0, 'JSON']);
    await writeFile(values, '{"ports": [80], "no name": 1}');
    const refused = await envarium`deploy web --env MODE=a --var-file ${values}`;
    assert.deepEqual([refused.status, refused.stdout], [2, '']);
    assert.match(refused.stderr, /--var-file name .*"no name"/);
    for (const name of ['place', 'TF_LOG_PLACE']) await good`variables unset ${name} -e web`;
    await good`deploy web --hcl-var ${'ports=[80, 443]'} --json-var greeting="hi" --wait`;
  });

  test('templates are created, shared, edited and deleted, and environments are created from them', async () => {
    const made = await good`templates create shared --repository ${repository.path} --retry-deploy 2`;
    assert.match(made, /^Template shared was created: /);
    await good`project create Templates`;
    const create = [
      'environment',
      'create',
      'from',
      '--project',
      'Templates',
      '--template',
      'shared',
      '--no-deploy',
    ];
    const unassigned = await envarium`${create}`;
    assert.equal(unassigned.status === 0, false);
    assert.match(unassigned.stderr, /not assigned to the project/);
    assert.match(await good`templates add-project shared Templates`, /Projects: +Templates/);
    await good`${create} --revision main`;
    assert.match((await envarium`${create} --path a`).stderr, /--path does not apply with --template/);
    await good`templates edit shared --name common --path drifting --description ${'for all'}`;
    const shown = await good`templates show -e from`;
    assert.match(
      shown,
      /Name: +common\n[^]*Folder: +drifting\nDescription: +for all\n[^]*Retries: +deploys 2×/,
    );
    assert.match(await good`templates list --project Templates`, /common +terraform/);
    await good`templates edit common --path ${''}`;
    assert.doesNotMatch(await good`templates show common`, /Folder/);
    await good`templates remove-project common Templates`;
    assert.equal(await good`templates delete common`, 'Template common was deleted\n');
    assert.match(await good`templates list`, /No templates/);
    assert.match(await good`templates show -e from`, /Deleted: +yes/);
    await good`project archive Templates`;
  });

  test('a task runs arguments exactly as specified, or a script from a file', async () => {
    const task = await good`task web --follow -- terraform output -json greeting`;
    assert.match(task, /"hi"/);
    const script = join(folder, 'task.sh');
    await writeFile(script, 'echo "first of two"\nfalse\n');
    const failed = await envarium`task web --script ${script} --follow`;
    assert.deepEqual([failed.status, /first of two/.test(failed.stdout)], [1, true]);
  });

  test('a local folder is planned without ignored files, and nothing is applied', async () => {
    const own = join(folder, 'own');
    await mkdir(join(own, 'infra', '.terraform'), { recursive: true });
    await writeFile(
      join(own, 'infra', 'main.tf'),
      `${files['main.tf']}resource "terraform_data" "third" {}\n`,
    );
    await writeFile(join(own, 'infra', '.terraform', 'secret'), 'left behind');
    const { status, stdout, stderr } = await envarium`plan web ${own} --path infra --follow`;
    assert.equal(status, 0, stdout + stderr);
    assert.match(stderr, /Sending 1 files/);
    assert.match(stdout, /terraform_data\.third will be created[^]*Plan: 1 to add/);
    assert.doesNotMatch(await good`resources -e web`, /third/);
  });

  test('drift exits with 0 without drift, 2 with drift, and 1 on errors', async () => {
    const place = join(repository.path, 'place');
    await mkdir(place, { recursive: true });
    await good`environment create drifting --repository ${repository.path} --path drifting --var place=${place}
      --project Default --no-require-approval --wait`;
    const none = await envarium`drift drifting`;
    assert.deepEqual([none.status, /No drift\./.test(none.stdout)], [0, true], none.stdout + none.stderr);
    await repository.commit({ 'drifting/main.tf': files['drifting/main.tf'].replace('"here"', '"there"') });
    const some = await envarium`drift drifting`;
    assert.equal(some.status, 2, some.stdout + some.stderr);
    assert.match(some.stdout, /Change +terraform_data\.kept +\S*input/);
    assert.equal((await envarium`drift nowhere`).status, 1);
    assert.equal((await envarium`drift`).status, 1);
  });

  test('what follows an environment is shown and changed', async () => {
    assert.match(await good`environment downstream web`, /Nothing is deployed after it/);
    const both = await envarium`environment downstream web --none --add web`;
    assert.equal(both.status, 2);
    assert.match(both.stderr, /use one at a time/);
    const cycle = await envarium`environment downstream web --add web`;
    assert.match(cycle.stdout + cycle.stderr, /is the environment itself/);
  });

  test('locks show their owner and reason, and can be released', async () => {
    assert.match(await good`environment locks web`, /Deployments: +accepted\nState: +not locked/);
    await good`environment lock web --reason holidays`;
    assert.match(await good`environment locks web`, /locked since \d{4}-.* UTC .*\(holidays\)/);
    await good`environment unlock web`;
    const free = await envarium`state unlock web`;
    assert.equal(free.status, 2, 'nothing holds the state');
  });

  test('states can be listed, compared, downloaded to a private file, rolled back, imported and cleared', async () => {
    const versions = await json<StateVersion[]>`state list web`;
    assert.ok(versions.length >= 2);
    const [newest, older] = versions;
    assert.match(await good`state show ${newest?.id ?? ''}`, /Standing: +current/);
    const compared =
      await json<StateComparison>`state compare ${newest?.id ?? ''} ${versions.at(-1)?.id ?? ''}`;
    assert.ok(compared.resources.length + compared.outputs.length > 0);
    assert.match(await good`state compare ${newest?.id ?? ''}`, /From serial \d+/);
    const file = join(folder, 'pulled.tfstate');
    await good`state pull web --output ${file}`;
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal(await good`state pull web`, await readFile(file, 'utf8'));
    assert.equal((await envarium`state pull web --output ${file}`).status, 2, 'it overwrites nothing');
    await good`state rollback ${older?.id ?? ''} --comment try`;
    await good`state push web ${file} --comment back`;
    assert.equal((await json<StateVersion[]>`state list web --limit 1`)[0]?.origin, 'import');
    const other = join(folder, 'other.tfstate');
    await writeFile(
      other,
      (await readFile(file, 'utf8')).replace(
        /"lineage": "[^"]+"/,
        '"lineage": "11111111-2222-4333-8444-555555555555"',
      ),
    );
    const refused = await envarium`state push web ${other}`;
    assert.deepEqual([refused.status, /lineage/.test(refused.stderr)], [2, true], refused.stderr);
    assert.match(await good`state clear web`, /web has no current state; it was version/);
    await good`state push web ${file}`;
    assert.match(await good`state access web --organization`, /Whole organization: +yes/);
    assert.match(await good`state access web --clear`, /Whole organization: +no/);
    assert.equal((await envarium`state promote ${newest?.id ?? ''}`).status, 2, 'it is not rescued');
  });

  test('credentials are read from files, and no command shows them again', async () => {
    const file = join(folder, 'token');
    await writeFile(file, 'glpat-a-token-of-git\n');
    await good`git-token create forge --value-file ${file}`;
    for (const args of [['list'], ['show', 'forge'], ['list', '--json']])
      assert.doesNotMatch(await good`git-token ${args}`, /glpat/);
    await good`git-token delete forge`;
    assert.equal(await good`git-token list`, 'No git tokens.\n');
    const keygen = await findProgram('ssh-keygen');
    if (keygen !== null) {
      const key = join(folder, 'ssh-key');
      await new Promise((resolve) => execFile(keygen, ['-q', '-t', 'ed25519', '-N', '', '-f', key], resolve));
      await good`ssh-key create deploy --value-file ${key}`;
      await good`ssh-key update deploy --value-file ${key}`;
      assert.match(await good`ssh-key list`, /deploy/);
      await good`ssh-key delete deploy`;
    }
    const [agent] = await json<Agent[]>`agent list`;
    const made =
      await json<AgentSecret>`agent secret ${agent?.agentKey ?? ''} --description ${'second host'}`;
    assert.ok(made.secret.length > 20);
    const key = agent?.agentKey ?? '';
    assert.match(await good`agent secrets ${key}`, /second host/);
    assert.equal(
      await good`agent delete-secret ${key} ${made.id ?? ''}`,
      `Secret ${made.id ?? ''} was deleted\n`,
    );
    assert.doesNotMatch(await good`agent secrets ${key}`, /second host/);
    await good`agent create short-lived`;
    assert.equal(await good`agent delete short-lived`, 'Agent short-lived was deleted\n');
    assert.doesNotMatch(await good`agent list`, /short-lived/);
    await rm(file);
  });

  test('credentials of clouds are stored, tested, changed, assigned and deleted', async () => {
    const file = join(folder, 'kube.json');
    await writeFile(
      file,
      JSON.stringify({
        kubeConfig: [
          'current-context: c',
          'contexts: [{name: c, context: {cluster: k, user: u}}]',
          'clusters: [{name: k, cluster: {server: "https://127.0.0.1:1"}}]',
          'users: [{name: u, user: {token: planted-token}}]',
        ].join('\n'),
      }),
    );
    const create = ['credentials', 'create', 'cluster', '--type', 'K8S_KUBECONFIG_FILE'];
    const onCommandLine = await envarium`${create} --field kubeConfig=planted-token`;
    assert.equal(onCommandLine.status, 2);
    assert.match(onCommandLine.stderr, /kubeConfig is a secret: use --field-file/);
    assert.match(await good`${create} --value-file ${file}`, /^Credential cluster was stored: /);
    assert.match(await good`credentials list`, /cluster +K8S_KUBECONFIG_FILE/);
    for (const args of [
      ['show', 'cluster'],
      ['show', 'cluster', '--json'],
      ['list', '--json'],
    ])
      assert.doesNotMatch(await good`credentials ${args}`, /planted-token/);
    const refused = await envarium`credentials test cluster`;
    assert.equal(refused.status, 1, 'it does not work');
    assert.match(refused.stdout, /ENVARIUM_CREDENTIAL_PRIVATE_HOSTS/);

    const guid = '00000000-0000-0000-0000-000000000000';
    const ids = ['subscriptionId', 'tenantId', 'clientId'];
    const fields = ['--field', ...ids.map((name) => `${name}=${guid}`)];
    const secret = join(folder, 'client-secret');
    await writeFile(secret, 'planted-secret\n');
    const azure = [
      '--type',
      'AZURE_SERVICE_PRINCIPAL_FOR_DEPLOYMENT',
      '--field-file',
      `clientSecret=${secret}`,
    ];
    await good`project create Clouds`;
    await good`credentials create principal ${azure} ${fields} --project Clouds`;
    assert.match(await good`credentials test principal`, /Only its form was checked/);
    await good`credentials update principal --name deployer`;
    assert.match(await good`credentials show deployer`, /Type: +AZURE_SERVICE_PRINCIPAL/);
    for (const name of ['cluster', 'deployer']) {
      const done = `Credential ${name} was assigned to Clouds\n`;
      assert.equal(await good`credentials assign ${name} --project Clouds`, done);
    }
    const effective = await good`credentials list --project Clouds`;
    assert.match(effective, /deployer +AZURE_SERVICE_PRINCIPAL_FOR_DEPLOYMENT +this project/);
    const used = await envarium`credentials delete deployer`;
    assert.deepEqual([used.status, /is assigned to "Clouds"/.test(used.stderr)], [2, true], used.stderr);
    for (const name of ['cluster', 'deployer']) {
      await good`credentials unassign ${name} --project Clouds`;
      assert.equal(await good`credentials delete ${name}`, `Credential ${name} was deleted\n`);
    }
    assert.equal(await good`credentials list`, 'No credentials.\n');
    const missing = await envarium`credentials show deployer`;
    assert.deepEqual([missing.status, /no credential "deployer"/.test(missing.stderr)], [2, true]);
    assert.match(await good`credentials subject`, /^organization:/);
    await good`project archive Clouds`;
  });

  test('variables show where they come from and what they hide, in sets as well', async () => {
    const settable = await good`variables set --var region=global --description where`;
    assert.match(settable, /region +terraform +global +GLOBAL/);
    await good`set create shared --var region=of-the-set`;
    assert.match(await good`variables list --set shared`, /region +terraform +of-the-set +SET/);
    await good`set assign shared -e web`;
    await good`variables set -e web --env region=of-the-tool`;
    const both = await envarium`variables show region -e web`;
    assert.deepEqual([both.status, /add --env/.test(both.stderr)], [2, true], both.stderr);
    await good`variables unset region -e web --env`;
    const shown = await good`variables show region -e web`;
    assert.match(shown, /From: +SET shared\n/);
    assert.match(shown, /Hides: +GLOBAL: global/);
    await good`variables set -e web --var region=own`;
    assert.match(
      await good`variables show region -e web`,
      /Value: +own[^]*From: +ENVIRONMENT web\n[^]*Hides: +SET: of-the-set/,
    );
    await good`variables unset region -e web`;
    const inherited = await envarium`variables unset region -e web`;
    assert.deepEqual([inherited.status, /no variable "region" here/.test(inherited.stderr)], [2, true]);
    await good`set unassign shared -e web`;
    await good`set delete shared`;
    await good`variables unset region`;
    assert.match(await good`variables list`, /No variables/);
  });

  test('sets show their variables, lose some of them, and are assigned to a template by its name', async () => {
    const secret = join(folder, 'secret');
    await writeFile(secret, 'planted-secret\n');
    await good`set create base --var size=1 --env size=2 --var region=eu --sensitive token=@${secret}`;
    const shown = await good`set show base`;
    assert.match(shown, /Name: +base\n[^]*\nNAME +TYPE +VALUE[^]*region +terraform +eu/);
    assert.match(shown, /token +terraform +\*{8}/);
    assert.match(await good`set edit base --var token=changed`, /token +terraform +\*{8}/);
    const both = await envarium`set edit base --unset size`;
    assert.deepEqual([both.status, /add --env or --var/.test(both.stderr)], [2, true], both.stderr);
    await good`variables unset size --set base --env`;
    const edited = await good`set edit base --unset size --unset token --var zone=b`;
    assert.doesNotMatch(edited, /size|token/);
    const { configurationProperties } = await json<{ configurationProperties: Variable[] }>`set show base`;
    assert.deepEqual(configurationProperties.map(({ name }) => name).toSorted(), ['region', 'zone']);
    const gone = await envarium`set edit base --unset size`;
    assert.deepEqual([gone.status, /no variable "size" here/.test(gone.stderr)], [2, true], gone.stderr);

    await good`templates create with-set --repository ${repository.path}`;
    await good`set assign base --template with-set`;
    assert.match(await good`set assigned --template with-set`, /base +template/);
    assert.match(await good`variables show zone --template with-set`, /From: +SET base\n/);
    await good`variables set --template with-set --var zone=c`;
    const own = await good`variables show zone --template with-set`;
    assert.match(own, /From: +BLUEPRINT with-set\n/);
    const several = await envarium`variables list --set base --template with-set`;
    assert.deepEqual([several.status, /Specify only one of --set/.test(several.stderr)], [2, true]);
    await good`set unassign base --template with-set`;
    const nowhere = await envarium`set assign base --template nothing`;
    assert.match(nowhere.stderr, /no template "nothing": "envarium template list"/);
    await good`templates delete with-set`;
    await good`set delete base`;
  });

  test('organization events are followed until Ctrl-C, which exits with status 130', async () => {
    const cache = process.env.NODE_COMPILE_CACHE
      ? { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }
      : {};
    const login = {
      ENVARIUM_API_URL: service.url,
      ENVARIUM_API_KEY: service.key,
      ENVARIUM_API_SECRET: service.secret,
    };
    const following = spawn(process.execPath, [cliProgram, 'organization', 'events', '--json'], {
      env: { PATH: process.env.PATH ?? '', HOME: folder, ...cache, ...login },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const ended = new Promise<number | null>((resolve) => following.once('close', resolve));
    const { id } = await json<Environment>`environment show web`;
    // Repeatedly, each time with another reason: the stream begins with what happens after it is open.
    let locks = 0;
    const lock = () =>
      service.client.call('setEnvironmentLock', {
        params: { id },
        body: { isLocked: true, reason: `lock ${++locks}` },
      });
    const locking = setInterval(() => void lock(), 300);
    for await (const line of createInterface({ input: following.stdout })) {
      const event = JSON.parse(line) as { event: string; data: { environmentId?: string; change?: string } };
      if (event.event === 'environment' && event.data.change === 'locked' && event.data.environmentId === id)
        break;
    }
    clearInterval(locking);
    following.kill('SIGINT');
    assert.equal(await ended, 130);
    await good`environment unlock web`;
  });

  test('a refusal says what to do', async () => {
    const wrongSecret = await envarium`project list --api-key nobody`;
    assert.deepEqual([wrongSecret.status, wrongSecret.stdout], [2, '']);
    assert.match(wrongSecret.stderr, /envarium login/);
    const notSilent = await envarium`release -e web --reason ${'a try'}`;
    assert.deepEqual([notSilent.status, notSilent.stdout], [2, ''], 'its agent is in contact');
    const withoutReason = await envarium`release -e web`;
    assert.match(withoutReason.stderr, /--reason/);
  });

  test('the doctor passes a healthy installation, and reports what is wrong with a broken one', async () => {
    const well = await json<Doctor>`doctor --service`;
    assert.equal(well.problems, 0, JSON.stringify(well, null, 2));
    assert.deepEqual(
      well.service
        // Whether this machine has namespaces is not the installation's health.
        .map(({ check, standing }) =>
          check === 'isolation' ? check : `${check.replace(/^agent .*/, 'agent')} ${standing}`,
        ),
      [
        ...['service ok', 'ready ok', 'clock ok', 'key ok', 'version ok', 'agent ok', 'isolation'],
        ...['policies warning', 'queue ok'],
      ],
    );
    const [policies] = well.service.filter(({ check }) => check === 'policies');
    assert.equal(policies?.text, 'approval policies cannot be evaluated');
    assert.match(
      policies.advice ?? '',
      /^ENVARIUM_OPA names \/nowhere\/opa, which this service cannot execute: install opa on the machine of the service .*\.$/,
    );
    assert.match(JSON.stringify(well.service), /of runs on .* a run may have [0-9]+ processes/);
    assert.doesNotMatch(JSON.stringify(well), new RegExp(service.secret));
    const wrong = await envarium`doctor --service --api-key nobody`;
    assert.deepEqual([wrong.status, /✖ problem +key/.test(wrong.stdout)], [1, true], wrong.stdout);
  });

  test('names are completed from the service, and from the cache when it is down', async () => {
    assert.match(await good`__complete bash ${'envarium deploy dri'}`, /^drifting\n$/);
    assert.match(await good`__complete fish ${'envarium environment list --project Else'}`, /^Elsewhere\t/);
    assert.match(await good`__complete zsh ${'envarium agent secret ENV'}`, /^ENVARIUM_DEFAULT\t/);
    await service.stop();
    assert.match(await good`__complete bash ${'envarium logs -e w'}`, /^web\n$/);
    assert.equal(await good`__complete bash ${'envarium git-token delete '}`, '');
  });
});
