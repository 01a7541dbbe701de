/** The library that asks: it takes long to load. */
export { confirm, input, password, select } from '@inquirer/prompts';
