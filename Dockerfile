# Two stages: the first has compilers and development dependencies, the second runs and has neither.

FROM node:20.18.1-bookworm-slim AS build
# better-sqlite3 brings a binary for common platforms and is compiled where it does not.
RUN apt-get update \
  && apt-get install -y --no-install-recommends python3 make g++ \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json ./
# Without scripts, because `prepare` builds the program and its sources are not here yet; the one that counts follows.
RUN npm ci --ignore-scripts --no-audit --no-fund && npm rebuild better-sqlite3
COPY tsconfig.json ./
COPY tools ./tools
COPY src ./src
RUN npm run build && npm prune --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:20.18.1-bookworm-slim
# What a node keeps for itself, and what nodes share. A volume that is new takes over the owner.
RUN install -d -o node -g node -m 700 /data /shared/media
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist/src ./dist/src
COPY LICENSE ./
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
USER node
VOLUME /data
EXPOSE 3000
# It lives; whether it can serve is asked at /readyz, which says no for as long as views are filled.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "--max-semi-space-size=64", "--v8-pool-size=1", "dist/src/cli/main.js"]
CMD ["serve"]
