package redis

// Ledger is one by itself.
type Ledger struct{ l *ledger }

// OpenLedger opens one whose files take turns after some bytes.
func OpenLedger(dir string, most int64) (Ledger, error) {
	l, _, err := openLedger(dir)
	if err != nil {
		return Ledger{}, err
	}
	l.maxFileBytes = most
	return Ledger{l}, l.openFile("install")
}

// WriteIntent writes what is about to be sent.
func (l Ledger) WriteIntent(id string) error {
	return l.l.writeEntries(true, func(add func(byte, ...string) error) error { return add(entryIntent, id, "an argument") })
}

// WriteTornEntry leaves a part of an entry, as a full disk does.
func (l Ledger) WriteTornEntry() error {
	l.l.mu.Lock()
	defer l.l.mu.Unlock()
	l.l.torn = true
	_, err := l.l.file.Write([]byte{90, 0, 0, 0, 1, 2})
	return err
}

// ReadIDs are the ids of what it holds.
func (l Ledger) ReadIDs() (ids []string, err error) {
	all, err := l.l.read()
	for _, p := range all {
		ids = append(ids, p.id)
	}
	return ids, err
}

// Close closes it.
func (l Ledger) Close() error { return l.l.close() }
