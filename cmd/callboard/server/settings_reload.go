package server

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

// Reloader applies changed settings and certificates on SIGHUP. Only the log level and certificates take effect at
// run time. Invalid files change nothing.
type Reloader struct {
	Load           func() (*configs.Config, error)
	Settings       *configs.Config // at the start of the process
	Level          *slog.LevelVar
	Log            *slog.Logger
	ServiceManager *systemd.Notifier
}

// Watch reloads at each signal until stop is called.
func (r *Reloader) Watch(hangups <-chan os.Signal) (stop func()) {
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-hangups:
				r.ServiceManager.Reload(r.reload)
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

// reload reads the settings and certificates, sets the log level, and logs which changes need a restart.
func (r *Reloader) reload() {
	for _, pair := range keyPairs(r.Settings) {
		ends, err := readKeyPair(pair)
		if err != nil {
			r.Log.Error("the certificate cannot be read: the previous one stays in use", slog.String("file", pair.Chain), slog.Any("error", err))
			continue
		}
		r.Log.Info("the certificate was reloaded", slog.String("file", pair.Chain), slog.Time("not_after", ends))
	}
	next, err := r.Load()
	if err != nil {
		r.Log.Error("the settings cannot be reloaded: the previous ones stay in use", slog.Any("error", err))
		return
	}
	r.Level.Set(min(r.Level.Level(), next.Log.Level)) // so that the log line itself is visible
	attrs := []any{slog.String("log_level", strings.ToLower(next.Log.Level.String()))}
	if changed := changedSettings(r.Settings, next); len(changed) > 0 {
		attrs = append(attrs, slog.String("after_a_restart", strings.Join(changed, " ")))
	}
	r.Log.Info("the settings were reloaded", attrs...)
	r.Level.Set(next.Log.Level)
}

// changedSettings returns the keys of changed settings that take effect after a restart.
func changedSettings(now, next *configs.Config) (keys []string) {
	before := now.EffectiveSettings()
	for i, s := range next.EffectiveSettings() {
		if s.Key != "log_level" && s.Value != before[i].Value {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

// keyPairs returns the certificate files of HTTP and SIP.
func keyPairs(cfg *configs.Config) []configs.KeyPair {
	all := cfg.SIPKeyPairs()
	if pair := (configs.KeyPair{Chain: cfg.HTTP.CertFile, Key: cfg.HTTP.KeyFile}); cfg.HTTP.CertFile != "" && !slices.Contains(all, pair) {
		all = append(all, pair)
	}
	return all
}

// readKeyPair checks a certificate and its key by reading the files in the same way as the next TLS handshake does. It
// returns the expiry of the certificate.
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
