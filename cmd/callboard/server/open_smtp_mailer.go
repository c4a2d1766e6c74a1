package server

import (
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/callboard/callboard/actors/alerts"
)

// maxPassword limits the size of the SMTP password file in bytes.
const maxPassword = 4 << 10

// mailer returns the client that sends alert mails over SMTP, or nil if no mail server is configured.
func (s *Service) mailer() (alerts.Mailer, error) {
	if s.cfg.SMTP.Addr == "" {
		return nil, nil //nolint:nilnil // nil: no mail is sent
	}
	host, text, err := net.SplitHostPort(s.cfg.SMTP.Addr)
	if err != nil {
		return nil, fmt.Errorf("smtp_addr: %w", err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("smtp_addr: %w", err)
	}
	m := &alerts.SMTP{Host: host, Port: port, From: s.cfg.SMTP.From, TLS: s.cfg.SMTP.TLS, Username: s.cfg.SMTP.User}
	if path := s.cfg.SMTP.PasswordFile; path != "" {
		f, err := os.Open(path) //nolint:gosec // the operator chooses the path
		if err != nil {
			return nil, fmt.Errorf("smtp_password_file: %w", err)
		}
		defer func() { _ = f.Close() }()
		password, err := io.ReadAll(io.LimitReader(f, maxPassword))
		if err != nil {
			return nil, fmt.Errorf("smtp_password_file: %w", err)
		}
		m.Password = strings.TrimRight(string(password), "\r\n")
	}
	return m, nil
}
