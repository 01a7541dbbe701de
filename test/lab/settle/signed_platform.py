"""A platform of the contract with a signing rule drawn at random: signed_platform.py SEED [JSON of what is fixed].

`{"wide": true}` draws rare choices more often.

It prints a line of JSON, its port and the truth about itself, and serves until its standard input ends. It signs
requests as an application of its own does, and records each request. It imports nothing of the product.

/_control is for the test: `capture=read` or `capture=passback` is a request that was accepted, as text; `issue=CODE`
issues a code; without either, what was recorded. `mark` begins the record anew.
"""
import base64
import hashlib
import hmac
import http.server
import json
import random
import shlex
import socketserver
import sys
import threading
import time
import urllib.parse as U
import uuid

READ = '/api/v1/server/user/user_info_for_third'
PASSBACK = '/api/v1/server/user/passback_user_info'
COMMON = ['tenant_code', 'app_key', 'app_sign', 'channel', 'random', 'timestamp', 'sign']
READ_QUERY = ['tenant_code', 'app_key', 'app_sign', 'channel', 'code', 'scope', 'random', 'timestamp', 'sign',
              'info_name']
FORM = ['union_id', 'primary_key', 'user_info']


# The rule: how it is drawn.

def draw(rnd, is_wide=False):
    """A rule of the usual choices; `is_wide`: rare choices are drawn more often."""
    def pick(*weighted):
        return rnd.choices([value for value, _ in weighted], [weight for _, weight in weighted])[0]

    rare = 3 if is_wide else 1

    def draw_digest():
        """A digest of 32 characters, for `sign`."""
        algorithm = pick(('md5', 15), ('sha1', rare), ('sha256', 2 + rare), ('sha512', 0.4 * rare))
        if algorithm == 'md5':
            return {'algorithm': 'md5', 'output': pick(('hex', 6), ('HEX', 4)), 'from': 0}
        output = pick(('hex', 6), ('HEX', 2), ('base64', 0.6 * rare if algorithm in ('sha256', 'sha512') else 0))
        return {'algorithm': algorithm, 'output': output, 'from': 0 if output == 'base64' else
                pick((0, 6), (4, 0.3 * rare), (8, 0.3 * rare))}

    def draw_sign():
        writing = pick(('k=v&', 12), ('kv', 3), ('v', 2.5), ('v,', 0.4 * rare), ('v&', 0.4 * rare), ('v|', 0.4 * rare),
                       ('k=v', 0.6 * rare), ('k=v,', 0.3 * rare), ('k=v|', 0.3 * rare))
        ways = [('suffix', 5), ('prefix', 2), ('both', 3), ('hmac', 4), ('sorted', 0.5 * rare)]
        if writing == 'k=v&':
            ways += [('&key=', 7), ('&secret=', 2), ('&app_secret=', 2)]
        return {
            'place': pick(('both', 6), ('query', 4)), 'app_sign': pick((True, 6), (False, 4)),
            'empty': pick(('drop', 1), ('keep', 1)),
            'without': pick(([], 12), (['app_key'], 0.6 * rare), (['channel'], 0.2 * rare), (['code'], 0.2 * rare),
                            (['tenant_code', 'channel'], 0.2 * rare), (['timestamp'], 0.2 * rare)),
            'order': pick(('name', 15), ('sent', rare), ('reverse', 0.6 * rare), ('value', 0.8 * rare)),
            'writing': writing,
            'encode': pick(('none', 12), ('rfc3986', 2), ('form', 1), ('java', 2), ('quote_plus', 2), ('php', 1),
                           ('component', 1), ('dotnet', 1)),
            'way': pick(*ways), 'name': pick(('secret', 2), ('app_secret', 2), ('key', 1)),
            'digested': rnd.random() < 0.03 * rare, **draw_digest(),
        }

    def draw_app_sign():
        kind = pick(('parts', 80), ('same', 14), ('constant', 1.3 * rare), ('unchecked', rare))
        parts = ['app_key'] + pick((['timestamp'], 5), (['random', 'timestamp'], 4), (['timestamp', 'random'], 2),
                                   (['random'], 0.7), ([], 0.7))
        if rnd.random() < 0.05 * rare:
            parts += pick((['tenant_code'], 1), (['tenant_code', 'channel'], 1), (['channel'], 1))
        if rnd.random() < 0.05 * rare:
            rnd.shuffle(parts)
        way = pick(('last', 10), ('second', 2.5), ('first', 3), ('both', 0.5 * rare), ('hmac', 5))
        joiner = pick(('', 12), ('&', 1 + 0.3 * rare), ('|', 0.4 * rare), (',', 0.4 * rare), (':', 0.4 * rare),
                      ('-', 0.3 * rare), ('named', 6))
        return {
            'kind': kind, 'parts': parts, 'way': 'last' if joiner == 'named' and way != 'hmac' else way,
            'joiner': joiner, 'name': pick(('key', 3), ('secret', 1), ('app_secret', 2)),
            'algorithm': pick(('md5', 12), ('sha1', 0.8 * rare), ('sha256', 4)),
            'output': pick(('hex', 7), ('HEX', 2.5), ('base64', 0.4 * rare)), 'cut': rnd.random() < 0.015 * rare,
            'constant': ''.join(rnd.choices('0123456789abcdef', k=32)),
        }

    numbers = rnd.sample(pick((range(1001, 1100), 4), (range(400010, 400990), 2), (range(-90, -1), 1)), 12)
    meanings = 'missing malformed app tenant expired app_sign sign replayed code scope user form'.split()
    codes = dict(zip(meanings, numbers))
    checks = pick(('app_sign first', 50), ('sign first', 17), ('one code', 13), ('code first', 8), ('form first', 12))
    if checks == 'one code':
        codes['sign'] = codes['app_sign']
    statuses = pick(('200', 6), ('400', 2), ('own', 2))
    return {
        'sign': draw_sign(), 'app_sign': draw_app_sign(), 'checks': checks, 'codes': codes,
        'statuses': {name: 200 if statuses == '200' else 400 if statuses == '400' else rnd.choice([400, 401, 403, 422])
                     for name in meanings},
        'words': pick(('english', 5), ('chinese', 3), ('one', 1)), 'ids': pick((None, 4), ('hex', 1), ('time', 1)),
        'data': pick(({}, 2), (None, 2), ([], 1)), 'lenient': rnd.random() < 0.15, 'strict': rnd.random() < 0.3,
        'scope': pick(('any', 1), ('get_user_info', 1)), 'replay': pick(('allow', 6), ('late', 3), ('early', 1)),
        'base': pick(('', 3), ('/gw', 1)), 'secret': secret_of(rnd), 'tenant': pick(('acme', 1), ('t100236', 1)),
        'channel': pick(('web', 1), ('11', 1)), 'app_key': pick(('app-1', 1), ('ak5f0e93b1c2', 1)),
        'throttle': None, 'block': None, 'plain_codes': False,
    }


def secret_of(rnd):
    return ''.join(rnd.choices('abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789', k=rnd.choice([16, 24, 32])))


# The rule: how it signs.

def upper_only(text, safe):
    """Percent-encodes all but letters, digits and `safe`."""
    quoted = U.quote(text, safe=safe)
    return quoted if '~' in safe else quoted.replace('~', '%7E')


ENCODERS = {
    'none': lambda text: text,
    'rfc3986': lambda text: upper_only(text, '-._~'),
    'component': lambda text: upper_only(text, "-._~!'()*"),
    'form': lambda text: upper_only(text, '-._* ').replace(' ', '+'),
    'java': lambda text: upper_only(text, '-._* ').replace(' ', '+'),
    'quote_plus': U.quote_plus,
    'php': lambda text: upper_only(text, '-._ ').replace(' ', '+'),
    'dotnet': lambda text: lower_escapes(upper_only(text, '-._!()* ').replace(' ', '+')),
}


def lower_escapes(text):
    first, *others = text.split('%')
    return '%'.join([first] + [other[:2].lower() + other[2:] for other in others])


def written(raw, output):
    if output == 'base64':
        return base64.b64encode(raw).decode()
    return raw.hex().upper() if output == 'HEX' else raw.hex()


def digest(rule, text, key=None):
    algorithm = getattr(hashlib, rule['algorithm'])
    data = text.encode()
    return algorithm(data).digest() if key is None else hmac.new(key.encode(), data, algorithm).digest()


def text_of(pairs, writing):
    if writing.startswith('k=v'):
        return writing[3:].join(f'{name}={value}' for name, value in pairs)
    if writing == 'kv':
        return ''.join(name + value for name, value in pairs)
    return writing[1:].join(value for _, value in pairs)


def digested_text(rule, query, form, without, secret):
    """The text to sign and the key of its HMAC, if it is one."""
    pairs = [(name, value) for name, value in query + (form if rule['place'] == 'both' else [])
             if name not in without and not (rule['empty'] == 'drop' and value == '')]
    if rule['digested']:
        secret = hashlib.md5(secret.encode()).hexdigest()
    if rule['way'] == 'sorted':
        pairs.append((rule['name'], secret))
    if rule['order'] == 'value':
        pairs.sort(key=lambda pair: pair[1])
    elif rule['order'] != 'sent':
        pairs.sort(key=lambda pair: pair[0], reverse=rule['order'] == 'reverse')
    encode = ENCODERS[rule['encode']]
    text = text_of([(name, encode(value)) for name, value in pairs], rule['writing'])
    if rule['way'] == 'hmac':
        return text, secret
    texts = {'suffix': text + secret, 'prefix': secret + text, 'both': secret + text + secret, 'sorted': text}
    return texts.get(rule['way'], text + rule['way'] + secret), None


def sign_of(rule, query, form, secret, without=()):
    left_out = ['sign', *rule['without'], *([] if rule['app_sign'] else ['app_sign']), *without]
    text, key = digested_text(rule, query, form, left_out, secret)
    whole = written(digest(rule, text, key), rule['output'])
    return whole[rule['from']:rule['from'] + 32]


def app_sign_of(truth, query, form):
    rule, secret = truth['app_sign'], truth['secret']
    if rule['kind'] == 'constant':
        return rule['constant']
    if rule['kind'] == 'same':
        return sign_of(truth['sign'], query, form, secret, ['app_sign'])
    values = dict(query)
    if rule['joiner'] == 'named':
        pairs = [f'{name}={values[name]}' for name in rule['parts']]
        parts = pairs if rule['way'] == 'hmac' else [*pairs, f"{rule['name']}={secret}"]
        text = '&'.join(parts)
    else:
        parts = [values[name] for name in rule['parts']]
        places = {'last': [*parts, secret], 'second': [parts[0], secret, *parts[1:]], 'first': [secret, *parts],
                  'both': [secret, *parts, secret], 'hmac': parts}
        text = rule['joiner'].join(places[rule['way']])
    whole = written(digest(rule, text, secret if rule['way'] == 'hmac' else None), rule['output'])
    return whole[:32] if rule['cut'] else whole


# A request that its own application sent.

def signed_request(truth, rnd, kind):
    """Query and form of a request in the order in which it is sent; the form is None for a read."""
    own = {'tenant_code': truth['tenant'], 'app_key': truth['app_key'], 'channel': truth['channel'],
           'random': ''.join(rnd.choices('0123456789abcdefghijklmnop', k=rnd.choice([8, 10, 16, 20]))),
           'timestamp': str(int(time.time()) - rnd.randint(0, 50))}
    form = None
    if kind == 'read':
        own['code'] = uuid.UUID(int=rnd.getrandbits(128)).hex
        STATE['codes'].add(own['code'])
        if rnd.random() < 0.35:
            own['info_name'] = rnd.choice(['mobile', 'mobile,acme_level', 'mobile,id_card,chat_nickname'])
        elif rnd.random() < 0.1:
            own['info_name'] = ''
        if rnd.random() < 0.15:
            own['scope'] = 'get_user_info'
    else:
        info = {'mobile': f'138{rnd.randint(0, 99999999):08}'}
        if rnd.random() < 0.6:
            info['acme_city'] = rnd.choice(['北京', 'Shanghai', '广州 1/2'])
        form = [('user_info', json.dumps(info, ensure_ascii=False, separators=(',', ':')))]
        named = rnd.choice(['union_id', 'union_id', 'union_id', 'primary_key', 'primary_key', 'both'])
        if named != 'union_id':
            form.insert(0, ('primary_key', 'mobile'))
        if named != 'primary_key':
            form.insert(0, ('union_id', 'u1'))
    names = [name for name in (READ_QUERY if kind == 'read' else COMMON) if name in own]
    if rnd.random() < 0.5:
        rnd.shuffle(names)
    at = names.index('app_key') + 1
    query = [(name, own[name]) for name in names[:at]] + [('app_sign', '')]
    query += [(name, own[name]) for name in names[at:]]
    query[at] = ('app_sign', app_sign_of(truth, [pair for pair in query if pair[0] != 'app_sign'], form or []))
    return query + [('sign', sign_of(truth['sign'], query, form or [], truth['secret']))], form


def captured(truth, rnd, kind, origin):
    query, form = signed_request(truth, rnd, kind)
    url = f"{origin}{truth['base']}{READ if kind == 'read' else PASSBACK}?{U.urlencode(query)}"
    if form is None:
        return f'{url}\n' if rnd.random() < 0.5 else f'curl {shlex.quote(url)}\n'
    return f'curl -X PUT {shlex.quote(url)} --data {shlex.quote(U.urlencode(form))}\n'


# The service.

STATE = {'codes': set(), 'requests': [], 'changes': 0, 'dangers': 0, 'used': set(), 'at': [], 'wrong': 0}
LOCK = threading.Lock()
TEXTS = {
    'english': {'missing': 'param missing', 'malformed': 'param format error', 'app': 'app not found',
                'tenant': 'no permission', 'expired': 'request expired', 'app_sign': 'app_sign error',
                'sign': 'sign error', 'replayed': 'repeated request', 'code': 'code invalid',
                'scope': 'scope error', 'user': 'user not found', 'form': 'user_info error'},
    'chinese': {'missing': '参数缺失', 'malformed': '参数格式错误', 'app': '应用不存在', 'tenant': '无权限',
                'expired': '请求已过期', 'app_sign': '应用签名错误', 'sign': '签名错误', 'replayed': '重复请求',
                'code': '授权码无效', 'scope': '授权类型错误', 'user': '用户不存在', 'form': '用户信息错误'},
}


class Refused(Exception):
    pass


def carry_out(truth, method, path, query, form):
    """`data` of a success. It raises `Refused` with the meaning of a refusal."""
    values = dict(query)

    def need(is_right, meaning):
        if not is_right:
            raise Refused(meaning)

    is_read = path == truth['base'] + READ
    need(is_read or path == truth['base'] + PASSBACK, 'missing')
    need(method == ('GET' if is_read else 'PUT'), 'malformed')
    required = [*COMMON, *(['code'] if is_read else [])]
    need(all(values.get(name) for name in required), 'missing')
    need(8 <= len(values['random']) <= 20 and len(values['sign']) == 32, 'malformed')
    need(len(values['timestamp']) == 10 and values['timestamp'].isdigit(), 'malformed')
    need(not is_read or not truth['plain_codes'] or values['code'].isalnum(), 'malformed')
    need(values['app_key'] == truth['app_key'], 'app')
    need(values['tenant_code'] == truth['tenant'] and values['channel'] == truth['channel'], 'tenant')
    need(abs(time.time() - int(values['timestamp'])) < 300, 'expired')
    if truth['replay'] == 'early':
        need(values['random'] not in STATE['used'], 'replayed')
        STATE['used'].add(values['random'])

    def check_app_sign():
        if truth['app_sign']['kind'] != 'unchecked':
            bare = [pair for pair in query if pair[0] not in ('app_sign', 'sign')]
            need(values['app_sign'] == app_sign_of(truth, bare, form), 'app_sign')

    def check_sign():
        need(values['sign'] == sign_of(truth['sign'], query, form, truth['secret']), 'sign')

    def check_code():
        need(values['code'] in STATE['codes'], 'code')

    def check_form():
        need(not truth['strict'] or info, 'form')
        need(truth['lenient'] or dict(form).get('union_id') or dict(form).get('primary_key') in info, 'user')

    signatures = [check_sign, check_app_sign] if truth['checks'] == 'sign first' else [check_app_sign, check_sign]
    if is_read:
        steps = [check_code, *signatures] if truth['checks'] == 'code first' else [*signatures, check_code]
    else:
        need('user_info' in dict(form), 'missing')
        try:
            info = json.loads(dict(form)['user_info'])
        except ValueError:
            raise Refused('form') from None
        need(isinstance(info, dict) and not any(isinstance(v, (dict, list)) for v in info.values()), 'form')
        steps = [check_form, *signatures] if truth['checks'] == 'form first' else [*signatures, check_form]
    for step in steps:
        step()
    if truth['replay'] == 'late':
        need(values['random'] not in STATE['used'], 'replayed')
        STATE['used'].add(values['random'])
    if not is_read:
        STATE['changes'] += 1 if info or dict(form).get('union_id') else 0
        return {'union_id': dict(form).get('union_id') or ('u1' if info else '')}
    need(truth['scope'] == 'any' or values.get('scope', 'get_user_info') == 'get_user_info', 'scope')
    STATE['codes'].remove(values['code'])
    STATE['changes'] += 1
    if not values.get('info_name'):
        return {'union_id': 'u1', 'basic_info': {}, 'extension_info': {}, 'login_device_info': []}
    return {'union_id': 'u1', **{name: '1' for name in values['info_name'].split(',')}}


def is_danger(truth, path, query, form):
    """Whether a request could change a record or use up a code, whatever its signature."""
    if path.endswith(READ):
        return dict(query).get('code') in STATE['codes']
    return dict(form).get('user_info') != '{}' or bool(dict(form).get('union_id'))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def answer(self, status, body, kind='application/json'):
        raw = body.encode() if isinstance(body, str) else json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def refuse(self, meaning):
        text = 'error' if TRUTH['words'] == 'one' else TEXTS[TRUTH['words']][meaning]
        ids = {'hex': f' [{uuid.uuid4().hex[:8]}]', 'time': time.strftime(' %H:%M:%S')}
        msg = text + ids.get(TRUTH['ids'], '')
        body = {'code': TRUTH['codes'][meaning], 'msg': msg, 'data': TRUTH['data']}
        self.answer(TRUTH['statuses'][meaning], body)

    def do_GET(self):
        length = int(self.headers.get('Content-Length') or 0)
        form = U.parse_qsl(self.rfile.read(length).decode(), True)
        path, _, rest = self.path.partition('?')
        query = U.parse_qsl(rest, True)
        with LOCK:
            if path == '/_control':
                return self.control(dict(query))
            STATE['dangers'] += is_danger(TRUTH, path, query, form)
            seen = {'path': path, 'query': query, 'form': form}
            STATE['requests'].append(seen)
            now = time.time()
            STATE['at'] = [moment for moment in STATE['at'] if now - moment < 1] + [now]
            if TRUTH['throttle'] and len(STATE['at']) > TRUTH['throttle']:
                return self.answer(429, {'code': 429, 'msg': 'too many requests', 'data': None})
            if TRUTH['block'] and STATE['wrong'] >= TRUTH['block']:
                return self.answer(403, {'code': 403, 'msg': 'blocked', 'data': None})
            try:
                data = carry_out(TRUTH, self.command, path, query, form)
            except Refused as refused:
                [seen['refused']] = refused.args
                STATE['wrong'] += seen['refused'] in ('app_sign', 'sign')
                return self.refuse(seen['refused'])
            seen['refused'] = None
        self.answer(200, {'code': 200, 'msg': 'ok', 'data': data})

    do_PUT = do_GET

    def control(self, asked):
        if 'capture' in asked:
            origin = f"http://{self.headers['Host']}"
            return self.answer(200, captured(TRUTH, RND, asked['capture'], origin), 'text/plain')
        if 'issue' in asked:
            STATE['codes'].add(asked['issue'])
        record = {name: STATE[name] for name in ('requests', 'changes', 'dangers')}
        self.answer(200, record)
        if 'mark' in asked:
            STATE.update(requests=[], changes=0, dangers=0, wrong=0)


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    request_queue_size = 128


def check_itself(truth, rnd):
    """Its own requests are accepted by it, and by no other rule of its own length."""
    for kind in ('read', 'passback'):
        query, form = signed_request(truth, rnd, kind)
        path = truth['base'] + (READ if kind == 'read' else PASSBACK)
        carry_out(truth, 'GET' if kind == 'read' else 'PUT', path, query, form or [])
    STATE.update(codes=set(), changes=0, used=set())


if __name__ == '__main__':
    RND = random.Random(int(sys.argv[1]))
    FIXED = json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}
    TRUTH = draw(RND, FIXED.pop('wide', False))
    for member, value in FIXED.items():
        TRUTH[member] = {**TRUTH[member], **value} if isinstance(value, dict) and TRUTH[member] else value
    check_itself(TRUTH, RND)
    server = Server(('127.0.0.1', 0), Handler)
    print(json.dumps({'port': server.server_address[1], **TRUTH}), flush=True)
    threading.Thread(target=lambda: (sys.stdin.read(), server.shutdown()), daemon=True).start()
    server.serve_forever()
