"""A platform of another making, chosen at random: python3 random_platform.py SEED [JSON of what is fixed].

It prints a line of JSON: its port, and the truth about itself. /_control is for the test: it issues codes, counts, and
ends limits. It imports nothing of the product.
"""
import hashlib
import http.server
import json
import random
import socketserver
import sys
import threading
import time
import urllib.parse as U
import uuid
from email.utils import formatdate

rnd = random.Random(int(sys.argv[1]))
SECRET = 'Zq7-secret-of-app-01'
MEANINGS = ('codeNotValid missingParameter malformedParameter unknownParameter scopeNotAccepted unknownAppKey '
            'appNotAllowed wrongAppSign wrongSign timestampOutsideWindow randomReplayed wrongMethod noSuchPath '
            'userNotNamed primaryKeyNotInUserInfo userInfoNotFlat reservedKey').split()
GROUPS = [['missingParameter', 'malformedParameter', 'unknownParameter', 'scopeNotAccepted'],
          ['unknownAppKey', 'appNotAllowed', 'wrongAppSign', 'wrongSign'],
          ['userNotNamed', 'primaryKeyNotInUserInfo', 'userInfoNotFlat', 'reservedKey'],
          ['wrongMethod', 'noSuchPath']]


def pick(*weighted):
    return rnd.choices([v for v, _ in weighted], [w for _, w in weighted])[0]


def choose():
    numbers = rnd.sample(pick((range(1001, 1100), 4), (range(-90, -1), 1), (range(400010, 400990), 2), (range(2, 99), 1)), 30)
    codes = dict(zip(MEANINGS, numbers))
    for group in GROUPS:
        if rnd.random() < 0.3:
            codes.update({m: codes[group[0]] for m in group})
    if rnd.random() < 0.1:
        codes['timestampOutsideWindow'] = codes['randomReplayed'] = codes['wrongSign']
    status = pick((200, 6), (400, 1), ('each', 3))
    statuses = {m: status if status != 'each' else rnd.choice([400, 401, 403, 404, 409, 422]) for m in MEANINGS}
    byCode = {}
    for m in MEANINGS:  # one status for each code
        statuses[m] = byCode.setdefault(codes[m], statuses[m])
    data = pick(('list', 3), ('null', 3), ('object', 3), ('omit', 1))
    window = pick((300, 3), (60, 1), (120, 1), (180, 1), (600, 1), (rnd.randint(20, 899), 3), ('unlimited', 1))
    order = pick(('last', 6), ('before late', 2), ('before sign', 1))
    throttle = pick((None, 6), ('rate', 2), ('429', 1), ('once', 1))
    block = pick((None, 8), ('short', 1), ('long', 1)) if throttle is None else None
    return {
        'codes': codes, 'statuses': statuses, 'refusal_data': data,
        'text': pick(('msg', 8), ('message', 2)), 'quoted': rnd.random() < 0.1,
        'ids': pick((None, 4), ('hex', 2), ('uuid', 1), ('counter', 1), ('time', 1), ('front', 1)),
        'http_status': 200 if status == 200 else 'by-code',
        'absent': pick(('omit', 2), ('null', 2), ('empty', 1)), 'empty_object': pick(('object', 2), ('list', 2), ('null', 1)),
        'values': pick(('text', 2), ('as-written', 1)), 'unknown_parameters': pick(('refuse', 1), ('ignore', 1)),
        'scopes': pick((['get_user_info'], 1), ('any', 1)), 'window': window,
        'ahead': window if rnd.random() < 0.7 else pick((30, 1), (rnd.randint(20, 899), 1), (0, 1)),
        'replay': pick(('refuse', 2), ('allow', 1)), 'uses': pick((1, 5), (2, 1), (3, 1), ('unlimited', 1)),
        'same_id': rnd.random() < 0.85, 'prefix': pick(('chat_', 1), ('wx_', 2), ('line_', 1)),
        'app_sign': rnd.random() < 0.9, 'skew': pick((0, 7), (20, 1), (-400, 1), (3700, 1)),
        'slow': pick((0, 8), (0.4, 1), (1.3, 1)), 'throttle': throttle, 'block': block,
        'rate': rnd.randint(1, 3), 'per': 1, 'order': order, 'replay_first': rnd.random() < 0.3, 'null': rnd.random() < 0.9,
        'threshold': rnd.randint(12, 60), 'extension': {} if rnd.random() < 0.6 else {'name': 'Ming'}, 'limit': numbers[-1], 'blocked': numbers[-2],
    }


T = choose()
T.update(json.loads(sys.argv[2]) or {} if len(sys.argv) > 2 else {})
CODES = {f'c{n}': T['uses'] for n in range(1, 6)}
STATE = {'writes': 0, 'codes': 0, 'reads': 0, 'requests': 0, 'counter': 0, 'calm': False, 'refused': 0, 'until': 0, 'once': 0}
EXTENSION = dict(T['extension'])
USED, AT, LOCK = set(), [], threading.Lock()
BASIC = {'id_card': None, 'avatar': 'http://a/b', 'union_id': None, 'open_id': 'o1', 'mobile': '13800001111', 'nickname': 'Ming', 'sex': '1'}
EMPTY = {'object': {}, 'list': [], 'null': None}


class Refused(Exception):
    pass


def md5(text):
    return hashlib.md5(text.encode()).hexdigest()


def now():
    return time.time() + T['skew']


def decorate(text):
    STATE['counter'] += 1
    ids = {'hex': lambda: f'{text} [rid: {uuid.uuid4().hex[:8]}]', 'uuid': lambda: f'{text} {uuid.uuid4()}',
           'counter': lambda: f"{text} #{STATE['counter']}", 'front': lambda: f'{uuid.uuid4().hex[:6]}: {text}',
           'time': lambda: f"{time.strftime('%H:%M:%S')} {text}"}
    return ids[T['ids']]() if T['ids'] else text


def limited():
    if STATE['calm']:
        return None
    t = time.time()
    if T['throttle'] in ('rate', '429'):
        AT[:] = [x for x in AT if t - x < T['per']]
        if len(AT) >= T['rate']:
            return (T['limit'], 'too many requests', 429 if T['throttle'] == '429' else 200)
        AT.append(t)
    if T['throttle'] == 'once' and STATE['requests'] % 9 == 8:
        STATE['once'] += 1
        return (T['limit'], 'too many requests', 429)
    if T['block']:
        if t < STATE['until']:
            return (T['blocked'], 'blocked', 200)
        if STATE['refused'] >= T['threshold']:
            STATE['refused'], STATE['until'] = 0, t + (3 * T['per'] if T['block'] == 'short' else 9999)
            return (T['blocked'], 'blocked', 200)
    return None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def answer(self, status, body):
        raw = json.dumps(body, ensure_ascii=False).encode()
        self.send_response_only(status)
        for name, value in (('Date', formatdate(now(), usegmt=True)), ('Content-Type', 'application/json'), ('Content-Length', str(len(raw)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def say(self, code, text, data, status):
        body = {'code': str(code) if T['quoted'] else code, T['text'] if code != 200 else 'msg': text}
        if data != 'omit':
            body['data'] = data
        self.answer(status, body)

    def do_GET(self):
        length = int(self.headers.get('Content-Length') or 0)
        form = dict(U.parse_qsl(self.rfile.read(length).decode(), True))
        path, _, query = self.path.partition('?')
        P = dict(U.parse_qsl(query, True))
        if path == '/_control':
            return self.control(P)
        with LOCK:
            STATE['requests'] += 1
            limit = limited()
        if T['slow'] and not STATE['calm']:
            time.sleep(T['slow'])
        data = EMPTY.get(T['refusal_data'], 'omit')
        if limit:
            return self.say(limit[0], decorate(limit[1]), data, limit[2])
        with LOCK:
            try:
                found = self.carry_out(path, P, form)
            except Refused as refused:
                STATE['refused'] += 1
                means, text = refused.args
                return self.say(T['codes'][means], decorate(text), data, T['statuses'][means])
        self.say(200, 'ok', found, 200)

    do_PUT = do_POST = do_GET

    def control(self, P):
        if 'calm' in P:
            STATE['calm'] = P['calm'] == '1'
        if 'issue' in P:
            CODES[P['issue']] = T['uses']
        self.answer(200, {**STATE, 'extension': EXTENSION})

    def carry_out(self, path, P, form):
        def need(ok, means, text):
            if not ok:
                raise Refused(means, text)

        isWrite = path.endswith('/passback_user_info')
        need(path in ('/api/v1/server/user/passback_user_info', '/api/v1/server/user/user_info_for_third'), 'noSuchPath', 'not found')
        need(self.command == ('PUT' if isWrite else 'GET'), 'wrongMethod', 'bad method')
        A = {**P, **form}
        required = 'tenant_code app_key app_sign channel random timestamp sign'.split() + (['user_info'] if isWrite else ['code'])
        need(all(A.get(x) for x in required), 'missingParameter', 'param missing')
        need(8 <= len(P['random']) <= 20 and len(P['timestamp']) == 10 and P['timestamp'].isdigit(), 'malformedParameter', 'param bad')
        need(P['app_key'] == 'k', 'unknownAppKey', 'no app')
        need(P['tenant_code'] == 'acme', 'appNotAllowed', 'not allowed')

        def inTime():
            age = int(now()) - int(P['timestamp'])
            bound = T['window'] if age > 0 else T['ahead']
            need(bound == 'unlimited' or abs(age) <= bound, 'timestampOutsideWindow', 'expired')

        def known():
            names = required + ['scope', 'info_name', 'union_id', 'primary_key']
            need(T['unknown_parameters'] == 'ignore' or all(x in names for x in A), 'unknownParameter', 'unknown parameter')

        def scoped():
            need(T['scopes'] == 'any' or P.get('scope', 'get_user_info') in T['scopes'], 'scopeNotAccepted', 'scope error')

        def signed():
            if T['app_sign']:
                text = f"app_key={P['app_key']}&random={P['random']}&timestamp={P['timestamp']}&key={SECRET}"
                need(P['app_sign'] == md5(text), 'wrongAppSign', 'app_sign error')
            pairs = '&'.join(f'{k}={A[k]}' for k in sorted(A) if k != 'sign' and A[k])
            need(P['sign'] == md5(f'{pairs}&key={SECRET}'), 'wrongSign', 'sign error')

        def fresh():
            need(T['replay'] == 'allow' or P['random'] not in USED, 'randomReplayed', 'random used')
            USED.add(P['random'])

        def coded():
            left = 1 if isWrite else CODES.get(P['code'], 0)
            need(left == 'unlimited' or left > 0, 'codeNotValid', 'code invalid')

        late = [inTime, fresh, known, scoped] if T['replay_first'] else [known, inTime, scoped, fresh]
        steps = {'last': [inTime, signed, known, scoped, fresh, coded], 'before late': [signed, coded, *late],
                 'before sign': [coded, signed, *late]}[T['order']]
        for step in steps:
            step()
        return self.write(form, need) if isWrite else self.read(P)

    def write(self, form, need):
        given = json.loads(form['user_info'])
        need(not any(isinstance(v, (dict, list)) for v in given.values()), 'userInfoNotFlat', 'not flat')
        need(form.get('union_id') or form.get('primary_key'), 'userNotNamed', 'no user')
        need(form.get('union_id') or form['primary_key'] in given, 'primaryKeyNotInUserInfo', 'no key')
        need('union_id' not in given and 'channel' not in given, 'reservedKey', 'reserved key')
        need(T['null'] or None not in given.values(), 'userInfoNotFlat', 'null')
        for key, value in given.items():
            if value is None:
                EXTENSION.pop(key, None)
            else:
                STATE['writes'] += 1
                raw = form['user_info'].split(f'"{key}":')[1].split(',')[0].rstrip('}')
                EXTENSION[key] = value if T['values'] == 'as-written' or isinstance(value, str) else raw
        return {'union_id': form['union_id'] if T['same_id'] else 'merged-1'}

    def read(self, P):
        STATE['reads'] += 1
        if CODES[P['code']] != 'unlimited':
            if CODES[P['code']] == T['uses']:
                STATE['codes'] += 1
            CODES[P['code']] -= 1
        chat = T['prefix']
        basic = {(k if k in ('id_card', 'mobile') else chat + k): v for k, v in BASIC.items()}
        absent = {'null': None, 'empty': ''}.get(T['absent'])
        fill = lambda d: {k: (absent if v is None else v) for k, v in d.items() if v is not None or T['absent'] != 'omit'}
        if 'info_name' not in P:
            return {'union_id': 'u1', 'basic_info': fill(basic), 'extension_info': EXTENSION or EMPTY[T['empty_object']], 'login_device_info': []}
        have = {**basic, **EXTENSION, 'device_info': [], 'location_info': []}
        return {'union_id': 'u1', **fill({name: have.get(name) for name in P['info_name'].split(',')})}


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    request_queue_size = 128


server = Server(('127.0.0.1', 0), Handler)
print(json.dumps({'port': server.server_address[1], **T}), flush=True)
server.serve_forever()
