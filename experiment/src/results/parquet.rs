//! Tables as Parquet: row groups, columns of text, unsigned integers and double precision, all optional.

use crate::results::figures::Kind;
use crate::results::rows::Table;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type};
use serde_json::Value;
use std::io::{self, Write};
use std::sync::Arc;

/// The rows of a group: those of most tables; a million rows at once would take gigabytes.
const GROUP_ROWS: usize = 100_000;

pub(crate) fn parquet(table: &Table<'_>, out: &mut dyn Write) -> io::Result<()> {
    // The writer needs a sink that it can send to another thread; `out` may not be one.
    let mut bytes = Vec::new();
    encode(table, &mut bytes).map_err(io::Error::other)?;
    out.write_all(&bytes)
}

fn encode(table: &Table<'_>, bytes: &mut Vec<u8>) -> Result<(), ParquetError> {
    let fields = table.columns.iter().map(|(name, kind)| field(name, *kind).map(Arc::new));
    let schema = Type::group_type_builder(table.name).with_fields(fields.collect::<Result<_, _>>()?).build()?;
    let mut properties = WriterProperties::builder().set_created_by("packetscale".to_string());
    // Some readers fail on an empty dictionary.
    for ((name, _), _) in table.columns.iter().zip(without_values(table)).filter(|(_, without)| *without) {
        properties = properties.set_column_dictionary_enabled(ColumnPath::from(name.clone()), false);
    }
    let mut file = SerializedFileWriter::new(bytes, Arc::new(schema), Arc::new(properties.build()))?;
    let mut rows = table.rows();
    let mut part: Vec<Vec<Value>> = rows.by_ref().take(GROUP_ROWS).collect();
    loop {
        let mut group = file.next_row_group()?;
        let mut at = 0;
        while let Some(mut column) = group.next_column()? {
            let values = || part.iter().map(|row| &row[at]);
            write_column(&mut column, table.columns[at].1, &mut values())?;
            column.close()?;
            at += 1;
        }
        group.close()?;
        part = rows.by_ref().take(GROUP_ROWS).collect();
        if part.is_empty() {
            break;
        }
    }
    file.close()?;
    Ok(())
}

/// Which columns have a group of rows without a value.
fn without_values(table: &Table<'_>) -> Vec<bool> {
    let mut rows = table.rows();
    let mut without = vec![false; table.columns.len()];
    for group in 0.. {
        let mut empty = vec![true; table.columns.len()];
        let mut read = 0;
        for row in rows.by_ref().take(GROUP_ROWS) {
            read += 1;
            empty.iter_mut().zip(&row).for_each(|(empty, value)| *empty &= value.is_null());
        }
        // The first group is written even if it has no rows.
        if read > 0 || group == 0 {
            without.iter_mut().zip(empty).for_each(|(without, empty)| *without |= empty);
        }
        if read < GROUP_ROWS {
            break;
        }
    }
    without
}

fn field(name: &str, kind: Kind) -> Result<Type, ParquetError> {
    let (physical, logical) = match kind {
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Kind::Integer => (Physical::INT64, Some(LogicalType::integer(64, false))),
        Kind::Float => (Physical::DOUBLE, None),
    };
    Type::primitive_type_builder(name, physical)
        .with_logical_type(logical)
        .with_repetition(Repetition::OPTIONAL)
        .build()
}

fn write_column(
    column: &mut SerializedColumnWriter<'_>,
    kind: Kind,
    values: &mut dyn Iterator<Item = &Value>,
) -> Result<(), ParquetError> {
    let values: Vec<&Value> = values.collect();
    let there: Vec<i16> = values.iter().map(|value| i16::from(!value.is_null())).collect();
    let levels = Some(there.as_slice());
    match kind {
        Kind::Text => {
            let text: Vec<ByteArray> = values.iter().filter_map(|value| value.as_str()).map(ByteArray::from).collect();
            column.typed::<ByteArrayType>().write_batch(&text, levels, None)?;
        }
        Kind::Integer => {
            // Unsigned integers are stored by their bits.
            let counts: Vec<i64> = values.iter().filter_map(|value| value.as_u64()).map(u64::cast_signed).collect();
            column.typed::<Int64Type>().write_batch(&counts, levels, None)?;
        }
        Kind::Float => {
            let figures: Vec<f64> = values.iter().filter_map(|value| value.as_f64()).collect();
            column.typed::<DoubleType>().write_batch(&figures, levels, None)?;
        }
    }
    Ok(())
}
