import type { UserInfoClient } from '../../../../src/index.js';

declare module '../../../../src/index.js' {
  interface TenantInfo {
    acme_level: 'silver' | 'gold';
    /** A special name, with the type that this platform sends. */
    id_card: string | null;
  }
}

export async function idCard(client: UserInfoClient): Promise<string | null | undefined> {
  const { data } = await client.read({ code: 'c', infoNames: ['id_card'] });
  return data.id_card;
}

export async function levels(client: UserInfoClient): Promise<'silver' | 'gold' | undefined> {
  // @ts-expect-error: a name that neither §4.1 nor TenantInfo has
  await client.read({ code: 'c', infoNames: ['acme_levle'] });
  const names: string[] = ['acme_level'];
  await client.read({ code: 'c', infoNames: names });
  const { data } = await client.read({ code: 'c', infoNames: ['mobile', 'acme_level'] });
  return data.acme_level;
}
