/**
 * The plugin that has Ansible report to the run: for every version from 2.10 on, and for every Python that they run
 * under. It writes in addition to what Ansible prints for people.
 */

import { ansibleVariableNames } from '#protocol/tools/ansible-variables.ts';

/** Names the file to which the plugin writes; without it, the plugin does nothing. */
export const eventsVariable = 'ANSIBLE_RUN_EVENTS_FILE';

/** The heading of what the plugin prints about failed hosts, after everything else. */
export const failuresHeading = 'Failed hosts:';

/** Texts of differences are cut by the plugin at this length, long after what a plan shows of them. */
const longestDifference = 131_072;
/** Beyond this size of the file, the plugin leaves out differences. */
const mostBytes = 32 * 1024 * 1024;

/** The plugin's source. Its file's name is the plugin's. */
export const callbackSource = String.raw`# Reports what a playbook does to the run that started it. Each run writes it again.
from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = """
    name: envarium_events
    callback: envarium_events
    type: notification
    short_description: events as lines of JSON
    description: Writes one JSON object for each event to the file that ${eventsVariable} names.
"""

import functools
import json
import os

from ansible import constants as C
from ansible import context
from ansible.plugins.callback import CallbackBase

LONGEST_DIFFERENCE = ${longestDifference}
LONGEST_MESSAGE = 4000
MOST_BYTES = ${mostBytes}
MOST_HOSTS = 20


def plain(value, longest=None):
    if isinstance(value, dict):
        return dict((as_text(key), plain(part, longest)) for key, part in value.items())
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(part, longest) for part in value]
    if isinstance(value, bytes):
        value = value.decode('utf-8', 'replace')
    if isinstance(value, type(u'')):
        return value[:longest]
    if value is None or isinstance(value, bool):
        return value
    # Neither infinite nor undefined.
    if isinstance(value, (int, float)) and value - value == 0:
        return value
    return u'%s' % (value,)


def as_text(value):
    found = plain(value)
    return found if isinstance(found, type(u'')) else json.dumps(found, sort_keys=True)


def field(result, name):
    # From 2.19 on without the underscore; with it until 2.22.
    found = getattr(result, name, None)
    return getattr(result, '_' + name) if found is None else found


def message_of(result):
    parts = [as_text(result[key]).strip() for key in ('msg', 'stderr', 'module_stderr') if result.get(key)]
    if 'censored' in result or result.get('_ansible_no_log'):
        parts = ['the output is hidden, because the task has no_log']
    if not parts and result.get('stdout'):
        parts = [as_text(result['stdout']).strip()]
    text = u'\n'.join(part for at, part in enumerate(parts) if part and part not in parts[:at])
    return text if len(text) <= LONGEST_MESSAGE else u'... ' + text[-LONGEST_MESSAGE:]


def state_of(result):
    arguments = (result.get('invocation') or {}).get('module_args') or {}
    state = arguments.get('state') if isinstance(arguments, dict) else None
    return as_text(state) if isinstance(state, (bytes, type(u''))) else None


def counted(method):
    # What cannot be reported is not passed over in silence.
    @functools.wraps(method)
    def call(self, *args, **kwargs):
        try:
            return method(self, *args, **kwargs)
        except Exception as problem:
            self.lost += 1
            self._display.warning(u'An event could not be reported to the run: %s' % type(problem).__name__)

    return call


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = 'notification'
    CALLBACK_NAME = 'envarium_events'

    def __init__(self, *args, **kwargs):
        super(CallbackModule, self).__init__(*args, **kwargs)
        # A playbook that a task starts has other hosts and tasks.
        path = os.environ.pop('${eventsVariable}', None)
        self.file = open(path, 'wb') if path else None
        self.disabled = self.file is None
        self.bytes = 0
        self.lost = 0
        self.play = ''
        self.failures = {}
        self.items = {}
        self.looping = set()
        self.hidden = set()
        self.unpredicted = {}
        self.plays = 0
        self.unmatched = []
        self.is_grouped = False

    def write(self, event, **values):
        if self.file is None:
            return
        values['event'] = event
        known = dict((key, value) for key, value in values.items() if value is not None)
        line = json.dumps(known).encode('ascii') + b'\n'
        self.bytes += len(line)
        self.file.write(line)
        self.file.flush()

    @counted
    def v2_playbook_on_play_start(self, play):
        self.play = as_text(play.get_name()).strip()
        self.plays += 1

    @counted
    def v2_playbook_on_no_hosts_matched(self):
        self.unmatched.append(self.play)
        # Plays outside of the limit, and those for groups that facts decide, match no host on purpose.
        if not self.is_grouped and not context.CLIARGS.get('subset'):
            self.write('unmatched', play=self.play)

    @counted
    def v2_playbook_on_task_start(self, task, is_conditional):
        role = getattr(task, '_role', None)
        action = as_text(getattr(task, 'resolved_action', None) or task.action)
        self.is_grouped = self.is_grouped or action.split('.')[-1] == 'group_by'
        self.write(
            'task',
            task=as_text(task._uuid),
            name=as_text(task.name or task.action).strip(),
            action=action,
            play=self.play,
            role=None if role is None else as_text(role.get_name()),
        )
        if task.no_log and action.split('.')[-1] == 'set_stats':
            data = (task.args or {}).get('data')
            self.hidden.update(as_text(key) for key in data) if isinstance(data, dict) else self.hidden.add('*')

    def v2_playbook_on_handler_task_start(self, task):
        self.v2_playbook_on_task_start(task, False)

    def v2_playbook_on_cleanup_task_start(self, task):
        self.v2_playbook_on_task_start(task, False)

    @counted
    def v2_runner_on_start(self, host, task):
        self.write('start', host=as_text(host.get_name()), task=as_text(task._uuid))

    @counted
    def report(self, status, result, is_ignored=False, is_item=False):
        host, task, values = field(result, 'host'), field(result, 'task'), field(result, 'result')
        name = as_text(host.get_name())
        is_hidden = bool(task.no_log) or bool(values.get('_ansible_no_log')) or 'censored' in values
        difference = values.get('diff')
        is_skipped = status == 'skipped'
        place = (name, as_text(task._uuid))
        # Where it is hidden, the sum of a loop has no results.
        has_items = not is_item and ('results' in values or place in self.looping)
        self.looping.add(place) if is_item else self.looping.discard(place)
        # A condition that does not hold names a reason; what check mode does not run has only a message.
        has_reason = any(key in values for key in ('skip_reason', 'skipped_reason', 'false_condition'))
        is_unpredicted = is_skipped and bool(task.check_mode) and not has_reason and not has_items
        label = values.get('_ansible_item_label', values.get(values.get('ansible_loop_var', 'item')))
        self.write(
            'result',
            status=status,
            host=name,
            task=as_text(task._uuid),
            changed=bool(values.get('changed')),
            ignored=is_ignored or None,
            item=(as_text(label) if not is_hidden else 'hidden') if is_item else None,
            hasItems=has_items or None,
            hidden=is_hidden or None,
            unpredicted=is_unpredicted or None,
            state=None if is_hidden else state_of(values),
            diff=plain(difference, LONGEST_DIFFERENCE) if difference and not is_hidden and self.bytes < MOST_BYTES else None,
        )
        if is_unpredicted:
            known = self.unpredicted.setdefault(as_text(task._uuid), (as_text(task.get_name()), set()))
            known[1].add(name)
        if status in ('failed', 'unreachable') and not is_ignored:
            self.remember(status, name, as_text(task.get_name()), values, is_item)

    def remember(self, status, host, task, values, is_item):
        message = message_of(values)
        if is_item:
            self.items[host] = (task, message)
            return
        failed = self.items.get(host)
        if failed is not None and failed[0] == task:
            message = failed[1]
        self.failures[host] = (status, task, message)

    def v2_runner_on_ok(self, result):
        self.report('ok', result)

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self.report('failed', result, is_ignored=ignore_errors)

    def v2_runner_on_unreachable(self, result):
        self.report('unreachable', result)

    def v2_runner_on_skipped(self, result):
        self.report('skipped', result)

    def v2_runner_item_on_ok(self, result):
        self.report('ok', result, is_item=True)

    def v2_runner_item_on_failed(self, result):
        self.report('failed', result, is_item=True)

    def v2_runner_item_on_skipped(self, result):
        self.report('skipped', result, is_item=True)

    @counted
    def v2_playbook_on_stats(self, stats):
        hosts = dict((as_text(host), stats.summarize(host)) for host in stats.processed)
        custom = plain(stats.custom.get('_run') or {})
        hidden = sorted(custom) if '*' in self.hidden else sorted(self.hidden)
        self.write('stats', hosts=hosts, custom=custom, hidden=hidden, lost=self.lost)
        self.say_unpredicted()
        self.say_failures([name for name in sorted(hosts) if self.is_lost(hosts[name])])
        self.require_hosts()

    def require_hosts(self):
        if not self.unmatched or len(self.unmatched) < self.plays:
            return
        names = u', '.join(self.unmatched[:MOST_HOSTS])
        self.say(
            u'ERROR! No play matched a host, so that nothing was run: %s. Correct the inventory, the hosts of the '
            u'plays, or the limit.' % names,
            C.COLOR_ERROR,
        )
        # Ansible itself would end with success.
        raise SystemExit(1)

    def is_lost(self, summary):
        return summary.get('failures', 0) > 0 or summary.get('unreachable', 0) > 0

    def say(self, text, color):
        self._display.display(text, color=color)

    def say_unpredicted(self):
        if not self.unpredicted:
            return
        self.say('Check mode does not run these tasks; what they would change is unknown:', C.COLOR_WARN)
        for name, hosts in self.unpredicted.values():
            self.say('  %s (%d host%s)' % (name, len(hosts), '' if len(hosts) == 1 else 's'), C.COLOR_WARN)
        self.say('', None)

    def say_failures(self, hosts):
        lost = [(host,) + self.failures[host] for host in hosts if host in self.failures]
        if not lost:
            return
        self.say('${failuresHeading}', C.COLOR_ERROR)
        for host, status, task, message in lost[:MOST_HOSTS]:
            what = 'could not be reached' if status == 'unreachable' else 'failed'
            text = u'%s %s in task "%s": %s' % (host, what, task, message or 'no message')
            self.say('  ' + text.replace('\n', '\n    '), C.COLOR_ERROR)
        if len(lost) > MOST_HOSTS:
            self.say('  and %d more hosts' % (len(lost) - MOST_HOSTS), C.COLOR_ERROR)
        if context.CLIARGS.get('check') and any(status == 'failed' for _, status, _, _ in lost):
            self.say(
                '  This was check mode, which changes nothing and runs no commands: a task that needs what an earlier '
                'one makes or finds fails in it, and can have the condition "not ansible_check_mode". With '
                '${ansibleVariableNames.skipsCheck}=true, deployments are planned without a check, and drift is not detected.',
                C.COLOR_ERROR,
            )
`;
