"""Counts how often all six later requests are accepted: measure_settling.py [--seeds 1-60] [--ways settle,none].

For each seed it starts signed_platform.py, makes a profile by the built program in each of four ways, and sends a read,
a read by names and one with a scope; a passback by user, by key and by both. It prints a line for each platform that
ends otherwise (--all: for each platform), and the counts.
"""
import argparse
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
import uuid

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE.parents[2] / 'bin' / 'userinfo.cjs'
NODE = []
WAYS = {
    'read': 'one read, without the platform',
    'settle': 'one read, and the platform settles',
    'both': 'a read and a passback, without the platform',
    'none': 'nothing captured, and the platform settles',
}
Done = collections.namedtuple('Done', 'status stdout stderr cpu')


class Platform:
    def __init__(self, seed, fixed):
        self.process = subprocess.Popen([sys.executable, str(HERE / 'signed_platform.py'), str(seed), json.dumps(fixed)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.truth = json.loads(self.process.stdout.readline())
        self.origin = f"http://127.0.0.1:{self.truth['port']}"

    def ask(self, **query):
        url = f'{self.origin}/_control?{urllib.parse.urlencode(query)}'
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url) as answer:
            return answer.read().decode()

    def record(self, **query):
        return json.loads(self.ask(**query))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Machine:
    """A folder with a profile file of its own, and the built program."""

    def __init__(self, truth):
        self.folder = tempfile.mkdtemp(prefix='settle-')
        self.env = {'PATH': os.environ['PATH'], 'HOME': self.folder, 'SHOP': truth['secret']}

    def run(self, *args):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(['node', *NODE, str(PROGRAM), *args], cwd=self.folder, env=self.env,
                                       stdin=subprocess.DEVNULL, stdout=out, stderr=err)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode())
        return Done(process.returncode, *texts, used.ru_utime + used.ru_stime)

    def write(self, name, text):
        pathlib.Path(self.folder, name).write_text(text)
        return name

    def close(self):
        shutil.rmtree(self.folder)


def add(machine, platform, way, rate):
    """Makes the profile in one of the ways, and returns what was run."""
    truth = platform.truth
    values = ['--base-url', platform.origin + truth['base'], '--tenant-code', truth['tenant'], '--channel',
              truth['channel'], '--app-key', truth['app_key'], '--environment', 'test', '--app-secret-env', 'SHOP']
    samples = {'read': ['read'], 'both': ['read', 'passback'], 'settle': ['read'], 'none': []}[way]
    texts = [platform.ask(capture=kind) for kind in samples]
    platform.record(mark=1)
    if way == 'settle':
        file = machine.write('captured.txt', texts[0])
        return [machine.run('profile', 'add', 'shop', '--from', file, '--environment', 'test', '--app-secret-env',
                            'SHOP', '--yes', '--rate', rate)]
    done = [machine.run('profile', 'add', 'shop', *values)]
    if way == 'none':
        return [*done, machine.run('sign', 'try', '-p', 'shop', '--save', 'shop', '--yes', '--rate', rate)]
    files = [part for n, text in enumerate(texts) for part in ('--sample', machine.write(f'{n}.txt', text))]
    return [*done, machine.run('sign', 'solve', *files, '-p', 'shop', '--save', 'shop')]


def later_requests(machine, platform):
    """The names of the requests that were refused, of the six."""
    info = ['mobile=13800001111', 'acme_note=李 a/b+c~*']
    six = {
        'read': ['read', 'CODE'], 'read by names': ['read', 'CODE', 'mobile', 'acme_level'],
        'read with a scope': ['read', 'CODE', '--scope', 'get_user_info'],
        'passback by user': ['passback', *info, '--union-id', 'u1'],
        'passback by key': ['passback', *info, '--primary-key', 'mobile'],
        'passback by both': ['passback', *info, '--union-id', 'u1', '--primary-key', 'mobile'],
    }
    refused = []
    for name, args in six.items():
        code = uuid.uuid4().hex
        platform.ask(issue=code)
        if machine.run(*[code if arg == 'CODE' else arg for arg in args], '-p', 'shop').status != 0:
            refused.append(name)
    return refused


def outcome_of(seed, fixed, way, rate):
    platform = Platform(seed, fixed)
    machine = Machine(platform.truth)
    try:
        done = add(machine, platform, way, rate)
        record = platform.record(mark=1)
        asked, changes, dangers = len(record['requests']), record['changes'], record['dangers']
        return {'seed': seed, 'way': way, 'truth': platform.truth, 'refused': later_requests(machine, platform),
                'cpu': sum(one.cpu for one in done), 'requests': asked, 'changes': changes, 'dangers': dangers,
                'said': done[-1].stdout + done[-1].stderr, 'status': done[-1].status}
    finally:
        platform.close()
        machine.close()


def tells(truth):
    """Whether a wrong app_sign, a wrong sign and a right one are answered differently."""
    return truth['checks'] in ('app_sign first', 'sign first', 'form first') and truth['app_sign']['kind'] != 'unchecked'


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seeds', default='1-60')
    parser.add_argument('--ways', default='settle,none')
    parser.add_argument('--fixed', default='{}', help='JSON of what is fixed of each platform')
    parser.add_argument('--rate', default='10000/s')
    parser.add_argument('--all', action='store_true')
    parser.add_argument('--verbose', action='store_true', help='what the program said, for each line')
    given = parser.parse_args()
    first, _, last = given.seeds.partition('-')
    seeds = range(int(first), int(last or first) + 1)
    for way in given.ways.split(','):
        outcomes = []
        for seed in seeds:
            outcome = outcome_of(seed, json.loads(given.fixed), way, given.rate)
            outcomes.append(outcome)
            if outcome['refused'] or given.all:
                show(outcome, given.verbose)
        summarize(way, outcomes)


def show(outcome, is_verbose):
    sign, app_sign = outcome['truth']['sign'], outcome['truth']['app_sign']
    rule = ' '.join(str(sign[name]) for name in ('place', 'app_sign', 'empty', 'without', 'order', 'writing', 'encode',
                                                 'way', 'name', 'digested', 'algorithm', 'output', 'from'))
    print(f"seed {outcome['seed']}, {outcome['truth']['checks']}: {', '.join(outcome['refused']) or 'all accepted'}; "
          f"{outcome['requests']} requests, {outcome['cpu']:.1f} s\n   {rule}\n   {list(app_sign.values())}")
    if is_verbose:
        print('   | ' + outcome['said'].strip().replace('\n', '\n   | '))
    sys.stdout.flush()


def summarize(way, outcomes):
    def share(some):
        accepted = sum(not outcome['refused'] for outcome in some)
        return f'{accepted} of {len(some)}' + (f' ({accepted / len(some):.0%})' if some else '')

    def spread(name):
        values = sorted(outcome[name] for outcome in outcomes)
        return f'median {values[len(values) // 2]:.4g}, most {values[-1]:.4g}'

    told = [one for one in outcomes if not one['refused'] or 'more than one rule' in one['said']]
    judged = [one for one in outcomes if one['truth']['checks'] not in ('form first', 'code first')]
    print(f'{WAYS[way]}: {share(outcomes)}')
    print(f'  signature before the form: {share(judged)}')
    print(f"  three answers: {share([one for one in outcomes if tells(one['truth'])])}")
    print(f'  accepted, or said that more than one rule is left: {len(told)} of {len(outcomes)}')
    print(f"  CPU in seconds: {spread('cpu')}; requests: {spread('requests')}")
    print(f"  requests that could change a record: {sum(one['dangers'] for one in outcomes)}, "
          f"changed: {sum(one['changes'] for one in outcomes)}", flush=True)


if __name__ == '__main__':
    main()
