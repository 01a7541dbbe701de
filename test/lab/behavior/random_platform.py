"""A platform of another making, drawn from a seed: python3 random_platform.py SEED [JSON of what is fixed].

It draws everything that the contract leaves open, some faults of its own, and how its user configures the client, which
may be wrong. It prints one line of JSON: its port and the truth about itself. /_control is for the test: it shows the
records and the counters, issues codes, and ends limits. It imports nothing of the product.
"""
import hashlib
import http.server
import json
import random
import re
import socketserver
import string
import sys
import threading
import time
import urllib.parse
import uuid
from email.utils import formatdate

READ = '/api/v1/server/user/user_info_for_third'
PASSBACK = '/api/v1/server/user/passback_user_info'
SECRET = 'Zq7-secret-of-app-01'

# Each meaning of a refusal: its text in English and in Chinese.
TEXTS = {
    'noSuchPath': ('no such interface', '接口不存在'),
    'wrongMethod': ('method not supported', '请求方式错误'),
    'missingParameter': ('required parameter is absent', '缺少参数'),
    'malformedParameter': ('parameter has a bad format', '参数格式错误'),
    'unknownParameter': ('parameter is not expected', '多余的参数'),
    'scopeNotAccepted': ('scope is not accepted', '授权类型错误'),
    'unknownAppKey': ('no such application', '应用不存在'),
    'appNotAllowed': ('tenant does not match', '租户不匹配'),
    'wrongChannel': ('channel does not match', '渠道错误'),
    'noPermission': ('application may not do that', '没有权限'),
    'wrongAppSign': ('application signature is wrong', '应用签名错误'),
    'wrongSign': ('signature is wrong', '签名错误'),
    'timestampOutsideWindow': ('request has expired', '请求已过期'),
    'randomReplayed': ('request was sent before', '重复请求'),
    'codeNotValid': ('authorization code is invalid', '授权码无效'),
    'codeUsedUp': ('authorization code was used before', '授权码已使用'),
    'namesRefused': ('these fields are not authorized', '字段未授权'),
    'userNotNamed': ('user is not named', '未指定用户'),
    'primaryKeyNotInUserInfo': ('key is not in the data', '主键不存在'),
    'userInfoNotFlat': ('data has levels', '数据不是一层'),
    'reservedKey': ('key is reserved', '保留字段'),
    'noSuchUser': ('user does not exist', '用户不存在'),
    'nullRefused': ('empty value is refused', '值为空'),
    'limit': ('too frequent', '请求过于频繁'),
    'blocked': ('access is suspended', '已被封禁'),
    'hiccup': ('system is busy', '系统繁忙'),
    'writeLimit': ('too many updates of this user', '更新过于频繁'),
}
# Meanings for which a platform may have one code.
GROUPS = [
    ['missingParameter', 'malformedParameter', 'unknownParameter', 'scopeNotAccepted'],
    ['unknownAppKey', 'appNotAllowed', 'wrongChannel', 'noPermission'],
    ['wrongAppSign', 'wrongSign'],
    ['userNotNamed', 'primaryKeyNotInUserInfo', 'userInfoNotFlat', 'reservedKey', 'nullRefused'],
    ['wrongMethod', 'noSuchPath'],
    ['codeNotValid', 'codeUsedUp'],
    ['timestampOutsideWindow', 'randomReplayed', 'wrongSign'],
    ['missingParameter', 'userNotNamed', 'primaryKeyNotInUserInfo'],
]
# The order of the checks of most platforms; `target` is the code of a read, the user and the data of a passback.
CHECKS = ('method missing malformed app tenant channel time app_sign sign unknown scope replay permission '
          'target').split()
BODY_CHECKS = 'named primary flat reserved null user'.split()


def draw_platform(rnd):
    """What the platform does, as its operator knows it."""
    def pick(*weighted):
        return rnd.choices([value for value, _ in weighted], [weight for _, weight in weighted])[0]

    def chance(share):
        return rnd.random() < share

    ranges = pick((range(1001, 1200), 4), (range(-150, -1), 1), (range(400010, 400990), 2), (range(2, 150), 1))
    numbers = dict(zip(TEXTS, rnd.sample([number for number in ranges if number != 200], len(TEXTS))))
    for group in GROUPS:
        if chance(0.2):
            numbers.update({means: numbers[group[0]] for means in group})
    if chance(0.05):
        numbers = {means: 1 for means in TEXTS}
    language = pick((0, 2), (1, 1))
    wording = pick(('own', 8), ('by code', 2), ('one', 1))
    first = {}
    texts = {}
    for means in TEXTS:
        own = TEXTS[means][language]
        texts[means] = {'own': own, 'one': 'error', 'by code': first.setdefault(numbers[means], own)}[wording]
    status = pick((200, 6), (400, 1), ('by code', 2), ('by meaning', 1))
    first = {}
    statuses = {}
    for means in TEXTS:
        drawn = rnd.choice([400, 401, 403, 404, 409, 422])
        by_code = first.setdefault(numbers[means], drawn)
        statuses[means] = {'by code': by_code, 'by meaning': drawn}.get(status, status)
    order = list(CHECKS)
    for _ in range(pick((0, 3), (1, 2), (3, 3), (8, 2))):
        order.insert(rnd.randrange(len(order)), order.pop(rnd.randrange(len(order))))
    body_order = list(BODY_CHECKS)
    rnd.shuffle(body_order)
    window = pick((300, 3), (60, 1), (120, 1), (180, 1), (600, 1), (rnd.randint(20, 899), 3), ('unlimited', 1))
    absent = pick(('omit', 2), ('null', 2), ('empty', 1))
    limit = pick((None, 7), ('rate', 3))
    block = pick((None, 8), ('ever', 1), (0.3, 1))
    return {
        'codes': numbers, 'texts': texts, 'statuses': statuses, 'order': order, 'body_order': body_order,
        'http_status': 200 if status == 200 else 'by-code',
        'member': pick(('msg', 8), ('message', 2)), 'quoted': chance(0.1), 'success': pick(('ok', 5), ('success', 1)),
        'ids': pick((None, 5), ('hex', 2), ('uuid', 1), ('counter', 1), ('time', 1), ('front', 1), ('user', 1)),
        'names_parameter': chance(0.2),
        'gateway': pick((None, 6), ('html', 1), ('other', 1)),
        'refusal_data': pick(('list', 3), ('null', 3), ('object', 3), ('omit', 1)),
        'absent': absent, 'absent_basic': absent if chance(0.9) else 'omit',
        'empty_object': pick(('object', 2), ('list', 2), ('null', 1)),
        'values': pick(('text', 2), ('as-written', 1)), 'unknown_parameters': pick(('refuse', 1), ('ignore', 1)),
        'scopes': pick((['get_user_info'], 4), ('any', 4), (['user_base'], 1)), 'needs_scope': chance(0.04),
        'window': window, 'ahead': window if chance(0.7) else pick((30, 1), (rnd.randint(20, 899), 1), (0, 1)),
        'replay': pick(('refuse', 2), ('allow', 1)), 'uses': pick((1, 5), (2, 1), (3, 1), ('unlimited', 1)),
        'used_code_differs': chance(0.25), 'looking_uses': chance(0.15), 'any_code': chance(0.03),
        'code_form': pick(('hex', 3), ('letters', 2), ('short', 2)), 'checks_code_form': chance(0.15),
        'same_id': chance(0.85), 'prefix': pick(('chat_', 1), ('wx_', 2), ('line_', 1)),
        'checks_method': chance(0.8), 'checks_random': chance(0.8), 'checks_timestamp': chance(0.8),
        'checks_channel': chance(0.5), 'checks_tenant': chance(0.85), 'app_sign': chance(0.85),
        'names_refused': chance(0.1), 'may_read': chance(0.97), 'may_write': chance(0.92),
        'unknown_user': pick(('refuse', 3), ('create', 1)),
        'takes_unnamed': chance(0.08), 'takes_absent_key': chance(0.08), 'takes_nested': chance(0.15),
        'reserved': pick(('refuse', 6), ('store', 2), ('drop', 1)),
        'null': pick(('remove', 6), ('refuse', 2), ('store', 1), ('empty', 1), ('keep', 1)),
        'skew': pick((0, 7), (20, 1), (-400, 1), (3700, 1)), 'date': pick(('own', 4), ('none', 1), ('gateway', 1)),
        'limit': limit, 'rate': rnd.randint(3, 12), 'per': 0.15,
        'limited_as': pick(('code', 3), ('429', 2), ('429 html', 1), ('503 html', 1), ('retry-after', 1), ('control', 1)),
        'hiccup': pick((0, 7), (rnd.randint(5, 11), 2)),
        'hiccup_as': pick(('code', 3), ('500', 2), ('502 html', 1), ('reset', 2)), 'hiccup_acts': chance(0.4),
        'write_limit': pick((0, 9), (rnd.randint(1, 5), 1)),
        'block': block, 'block_after': rnd.randint(12, 90),
        'blocked_as': pick(('code', 3), ('403 html', 1), ('429', 1), ('control', 1)),
        'extension': pick(({}, 6), ({'name': 'Ming'}, 3), ({'userinfo_probe': 'by hand'}, 1)),
    }


def draw_caller(rnd):
    """How the user of the client configures it: mistakes are rare."""
    def pick(*weighted):
        return rnd.choices([value for value, _ in weighted], [weight for _, weight in weighted])[0]

    mistake = pick((None, 16), ('secret', 2), ('app_key', 1), ('tenant', 1), ('channel', 1), ('user', 2),
                   ('stale codes', 1), ('codes of another', 1), ('rule of names', 2), ('rule of query', 1))
    return {
        'mistake': mistake,
        'codes': pick((0, 2), (1, 2), (2, 2), (3, 2), (5, 2)),
        'names_user': rnd.random() < 0.8,
        'stale': 1 if rnd.random() < 0.15 else 0,
    }


SEED = int(sys.argv[1])
rnd = random.Random(SEED)
T = draw_platform(rnd)
CALLER = draw_caller(rnd)
fixed = json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}
CALLER.update(fixed.pop('caller', {}))
T.update(fixed)

LOCK = threading.Lock()
COUNTS = {'requests': 0, 'writes': 0, 'reads': 0, 'refused': 0, 'limited': 0, 'hiccups': 0, 'passbacks': 0}
RECORDS = {'u1': dict(T['extension']), 'u2': {}}
USED_RANDOMS, RECENT = set(), []
BLOCK = {'until': 0}
CALM = {'is': False}
BASIC = {'id_card': None, 'avatar': 'http://a/b', 'union_id': None, 'open_id': 'o1', 'mobile': '13800001111',
         'nickname': 'Ming', 'sex': '1'}
EMPTY = {'object': {}, 'list': [], 'null': None}
FORMS = {'hex': r'[0-9a-f]{32}', 'letters': r'[A-Z]{24}', 'short': r'[a-z][0-9]{5}'}


def make_code(number):
    rest = random.Random(f'{SEED}-{number}')
    if T['code_form'] == 'hex':
        return ''.join(rest.choices('0123456789abcdef', k=32))
    if T['code_form'] == 'letters':
        return ''.join(rest.choices(string.ascii_uppercase, k=24))
    return rest.choice('abcdef') + ''.join(rest.choices(string.digits, k=5))


def left_of(number):
    is_stale = CALLER['mistake'] == 'stale codes' or number < CALLER['stale']
    return 0 if is_stale else T['uses']


ISSUED = [make_code(number) for number in range(CALLER['codes'])]
CODES = {code: {'left': left_of(number), 'user': 'u2' if CALLER['mistake'] == 'codes of another' else 'u1'}
         for number, code in enumerate(ISSUED)}


class Refused(Exception):
    def __init__(self, means, parameter=None):
        super().__init__(means)
        self.means = means
        self.parameter = parameter


class Stop(Exception):
    """An answer that does not come from the platform's own code."""

    def __init__(self, status, body=None, headers=(), means=None):
        super().__init__()
        self.status, self.body, self.headers, self.means = status, body, headers, means


def md5(text):
    return hashlib.md5(text.encode()).hexdigest()


def now():
    return time.time() + T['skew']


def decorated(text):
    made = {
        'hex': lambda: f'{text} [rid: {uuid.uuid4().hex[:8]}]', 'uuid': lambda: f'{text} {uuid.uuid4()}',
        'counter': lambda: f"{text} #{COUNTS['requests']}", 'front': lambda: f'{uuid.uuid4().hex[:6]}: {text}',
        'time': lambda: f"{time.strftime('%H:%M:%S')} {text}", 'user': lambda: f'{text} (Ming 13800001111)',
    }
    return made[T['ids']]() if T['ids'] else text


def stopped_as(how, means):
    """An answer in place of that to the request: of a limit, a block or a fault."""
    html = f'<html><title>{TEXTS[means][0]}</title></html>'
    if how == '429 html':
        return Stop(429, html)
    if how == '503 html':
        return Stop(503, html)
    if how == '502 html':
        return Stop(502, html)
    if how == '403 html':
        return Stop(403, html)
    if how == '429':
        return Stop(429, means=means)
    if how == '500':
        return Stop(500, means=means)
    if how == 'retry-after':
        return Stop(200, means=means, headers=[('Retry-After', '1')])
    if how == 'control':
        return Stop(T['statuses']['codeNotValid'], means=means)
    return Stop(200, means=means)


def refuse_limited():
    t = time.time()
    if t < BLOCK['until']:
        raise stopped_as(T['blocked_as'], 'blocked')
    if T['block'] and COUNTS['refused'] >= T['block_after']:
        COUNTS['refused'] = 0
        BLOCK['until'] = t + (9999 if T['block'] == 'ever' else T['block'])
        raise stopped_as(T['blocked_as'], 'blocked')
    if T['limit'] == 'rate':
        RECENT[:] = [moment for moment in RECENT if t - moment < T['per']]
        if len(RECENT) >= T['rate']:
            COUNTS['limited'] += 1
            raise stopped_as(T['limited_as'], 'limit')
        RECENT.append(t)


def code_of_limit(means, how):
    """A limit that answers with the code of an unknown code has a text of its own."""
    return T['codes']['codeNotValid'] if how == 'control' else T['codes'][means]


class Request:
    """One request and its checks."""

    def __init__(self, method, path, query, form):
        self.method, self.path, self.query, self.form = method, path, query, form
        self.all = {**query, **form}
        self.is_passback = path == PASSBACK
        names = 'tenant_code app_key app_sign channel random timestamp sign'.split()
        self.required = names + (['user_info'] if self.is_passback else ['code'])

    def value(self, name):
        return self.all.get(name, '')

    def carry_out(self):
        if self.path not in (READ, PASSBACK):
            self.refuse_by_gateway('noSuchPath')
        for check in T['order']:
            getattr(self, f'check_{check}')()
        return self.passback() if self.is_passback else self.read()

    def refuse_by_gateway(self, means):
        if T['gateway'] == 'html':
            raise Stop(404, '<html><title>Not Found</title></html>')
        if T['gateway'] == 'other':
            raise Stop(404, json.dumps({'status': 404, 'error': 'Not Found', 'path': self.path}))
        raise Refused(means)

    def check_method(self):
        if T['checks_method'] and self.method != ('PUT' if self.is_passback else 'GET'):
            self.refuse_by_gateway('wrongMethod')

    def check_missing(self):
        for name in self.required:
            if not self.value(name):
                raise Refused('missingParameter', name)

    def check_malformed(self):
        if T['checks_random'] and not 8 <= len(self.value('random')) <= 20:
            raise Refused('malformedParameter', 'random')
        if T['checks_timestamp'] and not re.fullmatch(r'\d{10}', self.value('timestamp')):
            raise Refused('malformedParameter', 'timestamp')

    def check_app(self):
        if self.value('app_key') != 'k':
            raise Refused('unknownAppKey')

    def check_tenant(self):
        if T['checks_tenant'] and self.value('tenant_code') != 'acme':
            raise Refused('appNotAllowed')

    def check_channel(self):
        if T['checks_channel'] and self.value('channel') and self.value('channel') != 'web':
            raise Refused('wrongChannel')

    def check_time(self):
        sent = self.value('timestamp')
        age = int(now()) - int(sent) if sent.isdigit() else 10 ** 9
        bound = T['window'] if age > 0 else T['ahead']
        if bound != 'unlimited' and abs(age) > bound:
            raise Refused('timestampOutsideWindow')

    def check_app_sign(self):
        value = self.value
        text = f"app_key={value('app_key')}&random={value('random')}&timestamp={value('timestamp')}&key={SECRET}"
        if T['app_sign'] and value('app_sign') != md5(text):
            raise Refused('wrongAppSign')

    def check_sign(self):
        signed = self.query if CALLER['mistake'] == 'rule of query' else self.all
        pairs = '&'.join(f'{name}={signed[name]}' for name in sorted(signed) if name != 'sign' and signed[name])
        if self.value('sign') != md5(f'{pairs}&key={SECRET}'):
            raise Refused('wrongSign')

    def check_unknown(self):
        known = [*self.required, 'scope', 'info_name', 'union_id', 'primary_key']
        for name in self.all:
            if T['unknown_parameters'] == 'refuse' and name not in known:
                raise Refused('unknownParameter', name)

    def check_scope(self):
        if self.is_passback:
            return
        sent = self.value('scope')
        if not sent and T['needs_scope']:
            raise Refused('scopeNotAccepted')
        if sent and T['scopes'] != 'any' and sent not in T['scopes']:
            raise Refused('scopeNotAccepted')

    def check_replay(self):
        if T['replay'] == 'refuse' and self.value('random') in USED_RANDOMS:
            raise Refused('randomReplayed')
        USED_RANDOMS.add(self.value('random'))

    def check_permission(self):
        if not T['may_write' if self.is_passback else 'may_read']:
            raise Refused('noPermission')

    def check_target(self):
        if self.is_passback:
            self.check_body()
        elif not T['any_code']:
            self.check_code()

    def check_code(self):
        code = self.value('code')
        if T['checks_code_form'] and not re.fullmatch(FORMS[T['code_form']], code):
            raise Refused('malformedParameter', 'code')
        if code not in CODES:
            raise Refused('codeNotValid')
        left = CODES[code]['left']
        if left == 0:
            raise Refused('codeUsedUp' if T['used_code_differs'] else 'codeNotValid')
        if T['looking_uses'] and left != 'unlimited':
            CODES[code]['left'] -= 1

    def check_body(self):
        try:
            self.info = json.loads(self.value('user_info'))
        except ValueError:
            raise Refused('userInfoNotFlat')
        for check in T['body_order']:
            getattr(self, f'check_{check}')()

    def check_named(self):
        if not self.value('union_id') and not self.value('primary_key') and not T['takes_unnamed']:
            raise Refused('userNotNamed')

    def check_primary(self):
        key = self.value('primary_key')
        if not self.value('union_id') and key and key not in self.info and not T['takes_absent_key']:
            raise Refused('primaryKeyNotInUserInfo')

    def check_flat(self):
        if not T['takes_nested'] and any(isinstance(value, (dict, list)) for value in self.info.values()):
            raise Refused('userInfoNotFlat')

    def check_reserved(self):
        if T['reserved'] == 'refuse' and ('union_id' in self.info or 'channel' in self.info):
            raise Refused('reservedKey')

    def check_null(self):
        if T['null'] == 'refuse' and None in self.info.values():
            raise Refused('nullRefused')

    def check_user(self):
        user = self.value('union_id')
        if user and user not in RECORDS and T['unknown_user'] == 'refuse':
            raise Refused('noSuchUser')

    def passback(self):
        COUNTS['passbacks'] += 1
        if T['write_limit'] and COUNTS['passbacks'] > T['write_limit']:
            raise Refused('writeLimit')
        user = self.value('union_id') or 'nobody'
        record = RECORDS.setdefault(user, {})
        for key, value in self.info.items():
            if key in ('union_id', 'channel') and T['reserved'] == 'drop':
                continue
            if value is None and T['null'] != 'store':
                if T['null'] == 'remove':
                    record.pop(key, None)
                elif T['null'] == 'empty':
                    record[key] = ''
                continue
            COUNTS['writes'] += 1
            record[key] = self.written(key, value)
        return {'union_id': user if T['same_id'] else 'merged-1'}

    def written(self, key, value):
        if T['values'] == 'as-written' or not isinstance(value, (int, float)):
            return value
        return self.value('user_info').split(f'"{key}":')[1].split(',')[0].rstrip('}')

    def read(self):
        COUNTS['reads'] += 1
        issued = CODES.get(self.value('code'), {'left': 'unlimited', 'user': 'u1'})
        if issued['left'] != 'unlimited' and not T['looking_uses']:
            issued['left'] -= 1
        record = RECORDS[issued['user']]
        basic = {name if name in ('id_card', 'mobile') else T['prefix'] + name: value for name, value in BASIC.items()}
        if not self.value('info_name'):
            return {'union_id': issued['user'], 'basic_info': filled(basic, T['absent_basic']),
                    'extension_info': record or EMPTY[T['empty_object']], 'login_device_info': []}
        if T['names_refused']:
            raise Refused('namesRefused')
        have = {**basic, **record, 'device_info': [], 'location_info': []}
        names = self.value('info_name').split(',')
        return {'union_id': issued['user'], **filled({name: have.get(name) for name in names}, T['absent'])}


def filled(values, absent):
    """The values with those that are missing as the platform writes them."""
    instead = {'null': None, 'empty': ''}.get(absent)
    kept = {name: value for name, value in values.items() if value is not None or absent != 'omit'}
    return {name: instead if value is None else value for name, value in kept.items()}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def send(self, status, text, headers=()):
        raw = text.encode()
        kind = 'text/html' if text.startswith('<') else 'application/json'
        own = [('Content-Type', kind), ('Content-Length', str(len(raw)))]
        if T['date'] != 'none':
            own.append(('Date', formatdate(now() if T['date'] == 'own' else time.time(), usegmt=True)))
        self.send_response_only(status)
        for name, value in [*own, *headers]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def send_envelope(self, status, code, text, data, headers=()):
        member = 'msg' if code == 200 else T['member']
        body = {'code': str(code) if T['quoted'] else code, member: text}
        if data != 'omit':
            body['data'] = data
        self.send(status, json.dumps(body, ensure_ascii=False), headers)

    def send_refusal(self, status, code, text, headers=()):
        self.send_envelope(status, code, decorated(text), EMPTY.get(T['refusal_data'], 'omit'), headers)

    def send_stop(self, stop, how):
        if stop.body is not None:
            return self.send(stop.status, stop.body, stop.headers)
        code = code_of_limit(stop.means, how)
        text = TEXTS[stop.means][0] if how == 'control' else T['texts'][stop.means]
        return self.send_refusal(stop.status, code, text, stop.headers)

    def do_GET(self):
        length = int(self.headers.get('Content-Length') or 0)
        form = dict(urllib.parse.parse_qsl(self.rfile.read(length).decode(), True))
        path, _, text = self.path.partition('?')
        query = dict(urllib.parse.parse_qsl(text, True))
        if path == '/_control':
            return self.control(query)
        with LOCK:
            self.serve(Request(self.command, path, query, form))

    do_PUT = do_POST = do_GET

    def serve(self, request):
        COUNTS['requests'] += 1
        is_calm = CALM['is']
        if not is_calm:
            try:
                refuse_limited()
            except Stop as stop:
                how = T['blocked_as'] if stop.means == 'blocked' else T['limited_as']
                return self.send_stop(stop, how)
        is_hiccup = not is_calm and T['hiccup'] and COUNTS['requests'] % T['hiccup'] == T['hiccup'] - 1
        if is_hiccup and not T['hiccup_acts']:
            return self.send_hiccup()
        try:
            data = request.carry_out()
        except Refused as refused:
            COUNTS['refused'] += 1
            if is_hiccup:
                return self.send_hiccup()
            text = T['texts'][refused.means]
            if T['names_parameter'] and refused.parameter:
                text += f': {refused.parameter}'
            return self.send_refusal(T['statuses'][refused.means], T['codes'][refused.means], text)
        except Stop as stop:
            return self.send_stop(stop, None)
        if is_hiccup:
            return self.send_hiccup()
        return self.send_envelope(200, 200, T['success'], data)

    def send_hiccup(self):
        COUNTS['hiccups'] += 1
        if T['hiccup_as'] == 'reset':
            self.close_connection = True
            return None
        return self.send_stop(stopped_as(T['hiccup_as'], 'hiccup'), T['hiccup_as'])

    def control(self, query):
        with LOCK:
            if 'calm' in query:
                CALM['is'] = True
            if 'issue' in query:
                CODES[query['issue']] = {'left': T['uses'], 'user': 'u1'}
            answer = {**COUNTS, 'records': RECORDS}
        self.send(200, json.dumps(answer))


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        # A client may close its connection at any time.
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


BEFORE = json.loads(json.dumps(RECORDS))
server = Server(('127.0.0.1', 0), Handler)
truth = {**T, 'port': server.server_address[1], 'caller': CALLER, 'issued': ISSUED, 'before': BEFORE}
print(json.dumps(truth), flush=True)
server.serve_forever()
