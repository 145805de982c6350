# A static binary and nothing else, not run by root.
FROM golang:1.26-alpine AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -tags nomsgpack -ldflags=-s -o /lockstep .
RUN go run github.com/google/go-licenses@v1.6.0 save . --ignore lockstep --save_path /notices && cp /usr/local/go/LICENSE /notices/LICENSE.go

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /lockstep /lockstep
COPY --from=build /notices /notices
USER 65532:65532
ENV LOCKSTEP_SERVER_ADDR=0.0.0.0:8080
EXPOSE 8080
HEALTHCHECK --interval=2s --timeout=3s --start-period=10s CMD ["/lockstep", "health"]
ENTRYPOINT ["/lockstep"]
