// A NestJS module: the client is a provider, closed with the application; POST
// /users/:unionId/level writes.
import 'reflect-metadata';
import {
  BadGatewayException,
  Body,
  Controller,
  HttpCode,
  Inject,
  Module,
  NotFoundException,
  type OnApplicationShutdown,
  Param,
  Post,
} from '@nestjs/common';
import { RejectedError, UserInfoClient } from 'userinfo-exchange';
import { client } from './client.js';

@Controller('users')
class UsersController {
  @Inject(UserInfoClient)
  readonly platform!: UserInfoClient;

  @Post(':unionId/level')
  @HttpCode(204)
  async setLevel(
    @Param('unionId') unionId: string,
    @Body() { level }: { readonly level: string },
  ): Promise<void> {
    try {
      await this.platform.passback({ unionId, userInfo: { acme_level: level } });
    } catch (error) {
      if (error instanceof RejectedError && error.means === 'noSuchUser')
        throw new NotFoundException();
      throw new BadGatewayException('try again later', { cause: error });
    }
  }
}

@Module({
  controllers: [UsersController],
  providers: [{ provide: UserInfoClient, useFactory: client }],
})
export class UsersModule implements OnApplicationShutdown {
  onApplicationShutdown(): Promise<void> {
    return client().close();
  }
}
