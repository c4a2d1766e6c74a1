package main

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/cmd/callboard/systemd"
	"github.com/callboard/callboard/configs"
)

// reloader reads again, on SIGHUP, what may change while the service runs: the
// log level and the certificates. What is faulty stays as it is.
type reloader struct {
	source  settingsSource
	cfg     *configs.Config // of the start
	level   *slog.LevelVar
	log     *slog.Logger
	manager *systemd.Notifier
}

// on reloads at each signal until the function that it returns is called.
func (r *reloader) on(hangups <-chan os.Signal) (stop func()) {
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-hangups:
				r.manager.Reload(r.reload)
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

func (r *reloader) reload() {
	for _, pair := range keyPairs(r.cfg) {
		ends, err := readKeyPair(pair)
		if err != nil {
			r.log.Error("the certificate cannot be read: the one before stays in use", slog.String("file", pair.Chain), slog.Any("error", err))
			continue
		}
		r.log.Info("the certificate was read", slog.String("file", pair.Chain), slog.Time("not_after", ends))
	}
	next, _, err := r.source.load()
	if err != nil {
		r.log.Error("the settings cannot be reloaded: the ones before stay in use", slog.Any("error", err))
		return
	}
	r.level.Set(min(r.level.Level(), next.LogLevel)) // the line itself is to be seen
	attrs := []any{slog.String("log_level", strings.ToLower(next.LogLevel.String()))}
	if changed := changedSettings(r.cfg, next); len(changed) > 0 {
		attrs = append(attrs, slog.String("after_a_restart", strings.Join(changed, " ")))
	}
	r.log.Info("the settings were reloaded", attrs...)
	r.level.Set(next.LogLevel)
}

// changedSettings are the keys of settings that take effect after a restart.
func changedSettings(now, next *configs.Config) (keys []string) {
	before := now.Redacted()
	for i, s := range next.Redacted() {
		if s.Key != "log_level" && s.Value != before[i].Value {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

// keyPairs are the certificates of HTTP and SIP.
func keyPairs(cfg *configs.Config) []configs.KeyPair {
	all := cfg.SIPFiles()
	if pair := (configs.KeyPair{Chain: cfg.TLSCert, Key: cfg.TLSKey}); cfg.TLSCert != "" && !slices.Contains(all, pair) {
		all = append(all, pair)
	}
	return all
}

// readKeyPair reads a certificate as the next handshake will, see
// transport.CertificateFiles, and tells when it ends.
func readKeyPair(pair configs.KeyPair) (notAfter time.Time, err error) {
	read, err := tls.LoadX509KeyPair(pair.Chain, pair.Key)
	if err != nil {
		return notAfter, err
	}
	leaf, err := x509.ParseCertificate(read.Certificate[0])
	if err != nil {
		return notAfter, err
	}
	return leaf.NotAfter, nil
}
