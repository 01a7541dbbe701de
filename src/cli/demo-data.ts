/** The profile of the demo app. */
export const demoProfile = 'demo';

/** What the demo app may act for. */
export const demoApp = { tenantCode: 'acme', channel: 'web' } as const;

/** The user whom the demos read and write. */
export const demoUser = {
  tenant_code: demoApp.tenantCode,
  union_id: 'u001',
  basic_info: { mobile: '13800138000', chat_nickname: '张三' },
  login_device_info: [{ brand: 'Acme', os: 'Android', os_version: '14', country: '中国', city: '杭州' }],
};
