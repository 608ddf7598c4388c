/**
 * What visitors read, in German.
 *
 * @since 0.1.0
 */
import type { Words } from "../WordsModel.js"

/**
 * @since 0.1.0
 * @category languages
 */
export const german: Words = {
  language: "de",
  messages: {
    drop: "Dateien oder Ordner hier ablegen",
    touch: "Dateien von diesem Gerät hinzufügen",
    paste: "oder kopierte Dateien einfügen",
    chooseFiles: "Dateien auswählen",
    chooseFolder: "Ordner auswählen",
    notAdded: "{name} wurde nicht hinzugefügt.",
    andMore: "Und {count} weitere.",
    dismiss: "Schließen",
    unfinished: "Nicht abgeschlossene Uploads",
    unfinishedHint: "Wählen Sie dieselbe Datei erneut aus, um den Upload fortzusetzen.",
    yourFiles: "Ihre Dateien",
    allFiles: "Alle Dateien",
    finished: { one: "{count} Datei hochgeladen", other: "{count} Dateien hochgeladen" },
    done: "Fertig",
    pauseAll: "Alle anhalten",
    resumeAll: "Alle fortsetzen",
    retryFailed: "Fehlgeschlagene wiederholen",
    cancelAll: "Alle abbrechen",
    clearFinished: "Fertige ausblenden",
    moreActions: "Weitere Aktionen",
    pause: "{name} anhalten",
    resume: "{name} fortsetzen",
    resumeShort: "Fortsetzen",
    retry: "Upload von {name} wiederholen",
    retryShort: "Wiederholen",
    choose: "{name} erneut auswählen",
    chooseShort: "Auswählen",
    uploadAfterAll: "{name} doch hochladen",
    cancel: "{name} abbrechen",
    remove: "{name} entfernen",
    discard: "{name} verwerfen",
    open: "{name} öffnen",
    openShort: "Öffnen",
    copyLink: "Link kopieren: {name}",
    copyShort: "Link kopieren",
    copied: "Link kopiert.",
    unnamed: "(ohne Namen)",
    amount: "{sent} von {size}",
    amountUploaded: "{sent} von {size} hochgeladen",
    stored: "{amount} gespeichert",
    onItsWay: "{amount} unterwegs",
    queued: "wartet",
    queuedAgain: "wartet auf Fortsetzung",
    preparing: "wird vorbereitet",
    starting: "beginnt",
    finishing: "wird abgeschlossen",
    stalled: "wartet auf die Verbindung",
    paused: "angehalten",
    uploaded: "hochgeladen",
    failed: "fehlgeschlagen",
    cancelled: "abgebrochen",
    nothingYet: "noch nichts hochgeladen",
    waitsForFile: "wartet auf die Datei",
    speed: "{amount}/s",
    timeLeft: "noch {time}",
    secondsLeft: "noch wenige Sekunden",
    files: { one: "{count} Datei", other: "{count} Dateien" },
    filesDone: { one: "{done} von {count} Datei", other: "{done} von {count} Dateien" },
    failedFiles: "{count} fehlgeschlagen",
    isUploading: { one: "{count} Datei wird hochgeladen.", other: "{count} Dateien werden hochgeladen." },
    isAt: "{percent} hochgeladen.",
    arePaused: "Alle Uploads sind angehalten.",
    areUploaded: { one: "{count} Datei hochgeladen.", other: "{count} Dateien hochgeladen." },
    haveFailed: "{done} von {count} hochgeladen, {failed} fehlgeschlagen.",
    offline: "Sie sind offline. Die Uploads werden automatisch fortgesetzt.",
    offlineIdle: "Sie sind offline."
  },
  reasons: {
    connection:
      "Die Verbindung ist fehlgeschlagen. Prüfen Sie Ihr Netzwerk und Werbeblocker und versuchen Sie es erneut.",
    slow: "Die Verbindung ist zu langsam oder abgebrochen. Versuchen Sie es erneut oder nutzen Sie eine schnellere.",
    changed: "Die Datei wurde geändert. Wählen Sie sie erneut aus, um die aktuelle Fassung hochzuladen.",
    otherFile: "Das ist nicht dieselbe Datei, oder sie wurde geändert. Wählen Sie die ursprüngliche Datei aus.",
    unreadable:
      "Die Datei kann nicht gelesen werden. Vielleicht wurde sie verschoben oder gelöscht. Wählen Sie sie erneut aus.",
    otherTab: "Diese Datei wird bereits in einem anderen Tab hochgeladen.",
    signedOut: "Vielleicht sind Sie abgemeldet. Melden Sie sich an und versuchen Sie es erneut.",
    notAllowed: "Sie dürfen hier keine Dateien hochladen.",
    tooLarge: "Die Datei ist zu groß.",
    empty: "Sie ist leer.",
    name:
      "Eine Datei mit diesem Namen oder Typ kann nicht hochgeladen werden. Benennen Sie sie um und wählen Sie sie erneut aus.",
    later: "Hochladen ist zurzeit nicht möglich. Versuchen Sie es später erneut.",
    busy: "Zurzeit gibt es zu viele Uploads. Versuchen Sie es in einer Minute erneut.",
    unconfirmed:
      "Die Datei wurde vollständig gesendet, aber nicht bestätigt. Versuchen Sie es erneut, um es herauszufinden.",
    damaged: "Die Datei wurde unterwegs beschädigt. Versuchen Sie es erneut, vielleicht über ein anderes Netzwerk.",
    startOver: "Dieser Upload wurde beendet. Versuchen Sie es erneut, um die Datei von vorn hochzuladen.",
    gone:
      "Er wurde in einem anderen Tab abgeschlossen oder verworfen. Versuchen Sie es erneut, um die Datei noch einmal hochzuladen.",
    owner: "Auf dieser Seite funktioniert etwas nicht. Versuchen Sie es erneut oder wenden Sie sich an den Betreiber.",
    tooLargeFor: "Sie hat {size}; erlaubt sind höchstens {limit}.",
    wrongType: "Erlaubt sind nur {types}.",
    duplicate: "Sie ist bereits in der Liste.",
    tooMany: "Es sind höchstens {count} Dateien gleichzeitig erlaubt.",
    totalTooLarge: "Es sind höchstens {limit} gleichzeitig erlaubt.",
    emptyFolder: "Der Ordner ist leer.",
    cannotBeRead: "Sie kann nicht gelesen werden. Vielleicht wurde sie verschoben oder gelöscht."
  }
}
