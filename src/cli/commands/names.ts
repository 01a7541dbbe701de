/** Every command, in the order in which help lists them. */
export const commandNames = [
  'read',
  'passback',
  'profile',
  'sign',
  'serve',
  'admin',
  'worker',
  'runs',
  'demo',
  'doctor',
  'openapi',
  'explain',
  'completion',
  'help',
] as const;

export type CommandName = (typeof commandNames)[number];
