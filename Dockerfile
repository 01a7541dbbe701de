# docker build -t userinfo .
# docker run --init --read-only --tmpfs /tmp -v userinfo:/data -p 127.0.0.1:8787:8787 --name userinfo -d userinfo
FROM node:24-bookworm-slim AS build
WORKDIR /userinfo
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY bin bin/
COPY scripts scripts/
COPY src src/
RUN npm run build

FROM node:24-bookworm-slim
ENV NODE_ENV=production USERINFO_HOST=0.0.0.0 USERINFO_NO_PAGE=1 USERINFO_LOG_FORMAT=json \
  USERINFO_DATABASE=/data/userinfo.db
# A volume that is mounted at /data gets this owner and mode.
RUN install -d -o node -g node -m 0700 /data && ln -s /userinfo/bin/userinfo.cjs /usr/local/bin/userinfo
COPY --from=build /userinfo/package.json /userinfo/
COPY --from=build /userinfo/bin /userinfo/bin/
COPY --from=build /userinfo/dist /userinfo/dist/
USER node
WORKDIR /data
VOLUME /data
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8787/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/userinfo/bin/userinfo.cjs"]
CMD ["serve"]
