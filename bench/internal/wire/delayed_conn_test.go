package wire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const roundTrip = time.Millisecond

// withDelayedConn calls f with both ends of a delayed connection, in virtual time.
func withDelayedConn(t *testing.T, f func(t *testing.T, client, server net.Conn)) {
	synctest.Test(t, func(t *testing.T) {
		end, server := net.Pipe()
		client := Dialer{RoundTrip: roundTrip, Requests: new(atomic.Int64)}.Wrap(end)
		f(t, client, server)
		client.Close()
		server.Close()
	})
}

// readArrivals reads single bytes until the connection ends, and then sends the times of their arrival, and the bytes.
func readArrivals(conn net.Conn) (<-chan []time.Duration, <-chan []byte) {
	times, text := make(chan []time.Duration, 1), make(chan []byte, 1)
	began := time.Now()
	go func() {
		var when []time.Duration
		var all []byte
		for b := make([]byte, 1); ; {
			if _, err := conn.Read(b); err != nil {
				times <- when
				text <- all
				return
			}
			when, all = append(when, time.Since(began)), append(all, b[0])
		}
	}()
	return times, text
}

// Delays of successive writes overlap: a thousand writes arrive in order after one round trip, not a thousand.
func TestWritesAreDelayedInParallel(t *testing.T) {
	withDelayedConn(t, func(t *testing.T, client, server net.Conn) {
		times, text := readArrivals(server)
		began := time.Now()
		var want []byte
		for i := range 1000 {
			want = append(want, byte(i))
			if n, err := client.Write([]byte{byte(i)}); n != 1 || err != nil {
				t.Fatalf("Write: %d, %v", n, err)
			}
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("the writes took %v; want none", took)
		}
		<-time.After(2 * roundTrip)
		client.Close()
		server.Close()
		for i, when := range <-times {
			if when != roundTrip {
				t.Fatalf("byte %d came after %v; want %v", i, when, roundTrip)
			}
		}
		if got := <-text; !bytes.Equal(got, want) {
			t.Errorf("got %d bytes, want %d in order", len(got), len(want))
		}
	})
}

// Each write is delayed by the round trip, whatever else is pending, and its buffer may be reused at once.
func TestEachWriteIsDelayed(t *testing.T) {
	withDelayedConn(t, func(t *testing.T, client, server net.Conn) {
		times, text := readArrivals(server)
		buffer := []byte("a")
		for _, b := range "abc" {
			buffer[0] = byte(b)
			if _, err := client.Write(buffer); err != nil {
				t.Fatal(err)
			}
			<-time.After(roundTrip / 4)
		}
		<-time.After(2 * roundTrip)
		client.Close()
		server.Close()
		for i, when := range <-times {
			if want := roundTrip + time.Duration(i)*roundTrip/4; when != want {
				t.Errorf("byte %d came after %v; want %v", i, when, want)
			}
		}
		if got := <-text; string(got) != "abc" {
			t.Errorf("got %q, want %q", got, "abc")
		}
	})
}

func TestRepliesAreNotDelayed(t *testing.T) {
	withDelayedConn(t, func(t *testing.T, client, server net.Conn) {
		go func() { _, _ = io.Copy(server, server) }() // returns when the connection ends
		began := time.Now()
		if _, err := client.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(client, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != roundTrip {
			t.Errorf("there and back took %v; want %v", took, roundTrip)
		}
	})
}

func TestDeadlinesEndReadsAndWrites(t *testing.T) {
	withDelayedConn(t, func(t *testing.T, client, _ net.Conn) {
		began := time.Now()
		if err := client.SetDeadline(began.Add(5 * roundTrip)); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != 5*roundTrip {
			t.Errorf("Read: got %v after %v, want os.ErrDeadlineExceeded after %v", err, time.Since(began), 5*roundTrip)
		}
		if _, err := client.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("Write: got %v, want os.ErrDeadlineExceeded", err)
		}
		if err := client.SetDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Write([]byte("x")); err != nil {
			t.Errorf("Write without a deadline: got %v, want no error", err)
		}
		// the other end does not read, so that delivery fails, and the next write returns the error
		if err := client.SetWriteDeadline(time.Now().Add(roundTrip)); err != nil {
			t.Fatal(err)
		}
		<-time.After(3 * roundTrip)
		if err := client.SetWriteDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Write([]byte("y")); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("Write after a failed delivery: got %v, want os.ErrDeadlineExceeded", err)
		}
	})
}

func TestWriteAfterCloseFails(t *testing.T) {
	withDelayedConn(t, func(t *testing.T, client, _ net.Conn) {
		if err := errors.Join(client.Close(), client.Close()); err != nil {
			t.Errorf("Close: got %v, want no error", err)
		}
		if _, err := client.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Write after Close: got %v, want net.ErrClosed", err)
		}
	})
}
