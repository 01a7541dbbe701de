import type { UserInfoClient } from '../../../../src/index.js';

declare module '../../../../src/index.js' {
  interface PlatformNames {
    chat_prefix: 'wx_';
  }
}

/** A program whose platform has another prefix than the neutral one: names and fields follow it. */
export async function nicknames(client: UserInfoClient): Promise<unknown[]> {
  const { data } = await client.read({ code: 'c', infoNames: ['wx_nickname', 'mobile'] });
  // @ts-expect-error: a special name in other letter case
  await client.read({ code: 'c', infoNames: ['WX_nickname'] });
  const whole = (await client.read({ code: 'c' })).data;
  // @ts-expect-error: the neutral name is not a field of this platform
  void whole.basic_info?.chat_nickname;
  return [data.wx_nickname, whole.basic_info?.wx_nickname, whole.basic_info?.mobile];
}
